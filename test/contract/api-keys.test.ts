import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/lib/crypto'
import { setClock, stopClock } from '../clock'
import { call, captureConsole, freshKey, freshProject, mint, STORE, storedText } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute, expectNoSecret } from '../routes/walk'
import { newWorld } from '../routes/world'
import { ISO, KEYS, PROJECTS, rotate, rowOf, SECRET, SPECIFIED_ROW } from './api'

describe('API keys', () => {
  it('[keys.1] every redacted row has the specified fields, of the specified types', async () => {
    const { project, owner, key, secret } = await freshKey()
    const listed = await call(KEYS, { token: secret, project })
    const rotated = await rotate(owner.token, project, key.id)
    for (const row of [key, listed.body.data[0], rotated.body.key]) {
      expect(row).toMatchObject({ id: key.id, name: 'test key', created_at: expect.stringMatching(ISO) })
      expect(Object.keys(row).slice(0, 5)).toEqual(SPECIFIED_ROW)
      expect(row.key_prefix).toEqual(expect.any(String))
      expect(row.last_used_at === null || ISO.test(row.last_used_at)).toBe(true)
    }
  })

  it('[keys.2] the id is what the paths of rotate and revoke take', async () => {
    const { project, owner, key } = await freshKey()
    const rotated = await rotate(owner.token, project, key.id)
    expect([rotated.status, rotated.body.key.id]).toEqual([200, key.id])
    expect((await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: owner.token, project })).status).toBe(204)
  })

  it('[keys.3] the name is the label its caller chose', async () => {
    const { project, owner } = await freshProject()
    for (const name of ['CI deploys', 'Schlüssel für Zoë 🔑', 'x'.repeat(100)]) {
      const { key } = await mint(owner.token, project, { name })
      expect(key.name).toBe(name)
      expect((await rowOf(owner.token, project, key.id)).name).toBe(name)
    }
  })

  it('[keys.4] key_prefix is svc_v1_, the first four characters of the body, an ellipsis, the last four', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project)
    const form = (of: string) => `svc_v1_${of.slice(7, 11)}\u2026${of.slice(-4)}`
    expect(key.key_prefix).toBe(form(secret))
    const rotated = await rotate(owner.token, project, key.id)
    expect(rotated.body.key.key_prefix).toBe(form(rotated.body.secret))
    expect((await rowOf(owner.token, project, key.id)).key_prefix).toBe(form(rotated.body.secret))
  })

  it('[keys.5] created_at is when the key was minted, in UTC, and a rotation leaves it', async () => {
    const { project, owner } = await freshProject()
    const at = stopClock()
    const { key } = await mint(owner.token, project)
    expect(key.created_at).toBe(new Date(at).toISOString())
    setClock(at + 1000)
    const rotated = await rotate(owner.token, project, key.id)
    expect(rotated.body.key.created_at).toBe(key.created_at)
  })

  it('[keys.6] last_used_at is null until the key is used, then when it was', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect(key.last_used_at).toBeNull()
    expect((await rowOf(owner.token, project, key.id)).last_used_at).toBeNull()
    const at = stopClock()
    expect((await call(PROJECTS, { token: secret, project })).status).toBe(200)
    setClock(at + 1000)
    expect((await rowOf(owner.token, project, key.id)).last_used_at).toBe(new Date(at).toISOString())
  })

  it('[keys.7] a secret is svc_v1_ and 96 hexadecimal characters, and no two are alike', async () => {
    const { project, owner } = await freshProject()
    const secrets = new Set<string>()
    for (let i = 0; i < 10; i++) {
      const { key, secret } = await mint(owner.token, project)
      const rotated = await rotate(owner.token, project, key.id)
      for (const one of [secret, rotated.body.secret]) {
        expect(one).toMatch(SECRET)
        secrets.add(one)
      }
    }
    expect(secrets.size).toBe(20)
  })

  it('[keys.8] a route that takes no key does not answer one with a secret', async () => {
    const world = await newWorld()
    const refusing = ROUTES.filter(({ meta }) => !meta.operation?.policy?.actors.includes('api_key'))
    expect(refusing.map(nameOf)).toContain('POST /ingest/:connection_id')
    for (const route of refusing) {
      const answer = await callRoute(world, route, { token: world.secret })
      expect(answer.status, nameOf(route)).toBeLessThan(500)
      await expectNoSecret(world, route, answer)
    }
  })

  it('[keys.9] of a secret, its SHA-256 is stored and nothing else', async () => {
    const printed = captureConsole()
    const { project, owner, key, secret } = await freshKey()
    const { body } = await rotate(owner.token, project, key.id)
    await call(PROJECTS, { token: body.secret, project }) // leaves its trace in last_used_at and KV
    await call(PROJECTS, { token: secret, project }) // refused, and logged
    expect(printed.join('\n')).toContain('key_rotated')
    const stored = (await storedText()) + printed.join('\n')
    for (const plain of [secret, body.secret]) {
      const hex = plain.slice('svc_v1_'.length)
      expect(stored).toContain(await sha256Hex(plain))
      for (let i = 0; i + 12 <= hex.length; i++) expect(stored).not.toContain(hex.slice(i, i + 12))
      expect(stored).not.toContain(await sha256Hex(hex))
      expect(stored).not.toContain(btoa(plain))
    }
    const row = await STORE.prepare('SELECT hash FROM api_keys WHERE id = ?').bind(key.id).first()
    expect(row).toEqual({ hash: await sha256Hex(body.secret) })
  })

  it('[keys.10] the secret carries the version marker of its prefix', async () => {
    const { key, secret } = await freshKey()
    expect(secret.startsWith('svc_v1_')).toBe(true)
    expect(key.key_prefix.startsWith('svc_v1_')).toBe(true)
  })
})
