import { describe, expect, it } from 'vitest'
import api from '../../docs/reference/api.md?raw'
import { SESSIONS_ONLY } from '../../src/lib/access-words'
import { setClock, stopClock } from '../clock'
import { bound, call, countingD1, freshKey, freshProject, mint, STORE } from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { callRoute, expectNoSecret, expectSampled } from '../routes/walk'
import { worldsByRoute } from '../routes/world'
import { KEYS, PROJECTS, rowOf, WEBHOOKS } from './api'

describe('authentication', () => {
  it('[auth.1] takes one secret, as a Bearer token in the Authorization header and nowhere else', async () => {
    const { project, secret } = await freshKey()
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
    const lower = await call(KEYS, { project, headers: { authorization: `bearer ${secret}` } })
    expect(lower.status).toBe(200) // the scheme's name has no case
    const elsewhere: Record<string, string>[] = [
      { 'X-Api-Key': secret },
      { Cookie: `token=${secret}; session=${secret}` },
      { Authorization: secret },
      { Authorization: `Basic ${btoa(`${secret}:`)}` },
      { Authorization: `Bearer ${secret} ${secret}` },
      { Authorization: `Bearer ${secret.toUpperCase()}` },
      { Authorization: `Bearer ${secret.slice(0, -1)}` },
    ]
    for (const headers of elsewhere) expect((await call(KEYS, { project, headers })).status).toBe(401)
    expect((await call(`${KEYS}?access_token=${secret}`, { project })).status).toBe(401)
  })

  it('[auth.2] a key sent with any other X-Project-Id than its own is a 401', async () => {
    const { project, owner, secret } = await freshKey()
    const { body: sibling } = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Sibling' } })
    const stranger = await freshProject()
    const others = [sibling.id, stranger.project, 'prj_00000000000000000000000000', 'x', project.toUpperCase()]
    for (const other of others) {
      for (const path of [KEYS, PROJECTS, WEBHOOKS, `${PROJECTS}/${project}`]) {
        const answer = await call(path, { token: secret, project: other })
        expect([answer.status, answer.body.code], `${path} as ${other}`).toEqual([401, 'wrong_project'])
      }
    }
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
  })

  it('[auth.3] X-Project-Id names the project that a request is scoped to', async () => {
    const { project, owner, key } = await freshKey()
    const { body: sibling } = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Sibling' } })
    const { key: other } = await mint(owner.token, sibling.id)
    const ids = async (of: string) => {
      const { body } = await call(KEYS, { token: owner.token, project: of })
      return body.data.map((row) => row.id)
    }
    expect(await ids(project)).toEqual([key.id])
    expect(await ids(sibling.id)).toEqual([other.id])
  })

  const worldOf = worldsByRoute()
  const plane = ROUTES.filter(({ path }) => path.startsWith('/platform/v1'))
  const idOf = ({ meta }: (typeof plane)[number]) => meta.operation?.id ?? ''
  const taking = plane.filter((route) => SESSIONS_ONLY[idOf(route)] === undefined)
  it.each(taking.map((route) => [nameOf(route), route] as const))(
    '[auth.4] every endpoint that takes a Bearer token takes a key, except those listed with a reason; [keys.8] only mint and rotate answer with a secret: %s',
    async (_, route) => {
      const world = await worldOf(route)
      const answer = await callRoute(world, route, { token: world.secret })
      expectSampled(route, answer)
      await expectNoSecret(world, route, answer)
    },
  )

  it('[auth.9] docs/reference/api.md lists exactly the calls that take no key, with the reasons that the API description gives', () => {
    const refusing = plane.filter(({ meta }) => !meta.operation?.policy?.actors.includes('api_key'))
    expect(refusing.map(idOf).sort()).toEqual(Object.keys(SESSIONS_ONLY).sort())
    const [, section = ''] = /### Calls that take no API key\n(.*?)\n### /s.exec(api) ?? []
    const called = (route: (typeof plane)[number]) => nameOf(route).replace(/:(\w+)/g, '{$1}')
    const listed = refusing.map((route) => `| \`${called(route)}\` | ${SESSIONS_ONLY[idOf(route)]} |`)
    expect(
      section
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .sort(),
    ).toEqual(listed.sort())
  })

  it('[auth.5] a use is recorded at most once a minute: a second use within it writes nothing', async () => {
    // The KV marker expires by the machine's own clock, so it is deleted by hand when its 60 s are over.
    const start = stopClock()
    const { project, owner, key, secret } = await freshKey()
    const use = async (at: number) => {
      setClock(start + at)
      const { DB, count } = countingD1()
      expect((await call(PROJECTS, { token: secret, project, bindings: { DB } })).status).toBe(200)
      return count.rows_written
    }
    const recorded = async () => Date.parse((await rowOf(owner.token, project, key.id)).last_used_at) - start
    expect(await use(0)).toBe(2) // the key, and the row of its day
    for (const at of [1, 1000, 30_000, 59_999]) expect(await use(at)).toBe(0)
    expect(await recorded()).toBe(0)
    await bound.KV.delete(`last_used:${key.id}`)
    expect(await use(60_000)).toBe(2)
    expect(await recorded()).toBe(60_000)
    await bound.KV.delete(`last_used:${key.id}`)
    expect(await use(119_999)).toBe(0)
    expect(await recorded()).toBe(60_000)
  })

  it('[auth.6] of many first uses at once, one is recorded', async () => {
    const { project, secret } = await freshKey()
    const { DB, count } = countingD1()
    const uses = await Promise.all(
      Array.from({ length: 20 }, () => call(PROJECTS, { token: secret, project, bindings: { DB } })),
    )
    expect(new Set(uses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(count.rows_written).toBe(2)
  })

  it('[auth.7] a use that another machine recorded meanwhile is not recorded again', async () => {
    // Its isolate has no memory of ours and its KV marker has not reached us: the statement's own condition holds.
    const { project, owner, key, secret } = await freshKey()
    const theirs = Date.now() - 1000
    let asked = 0
    const KV = {
      get: async () => {
        asked += 1
        await STORE.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?').bind(theirs, key.id).run()
        return null
      },
      put: async () => {},
    } as unknown as KVNamespace
    expect((await call(PROJECTS, { token: secret, project, bindings: { KV } })).status).toBe(200)
    expect(asked).toBe(1)
    expect(Date.parse((await rowOf(owner.token, project, key.id)).last_used_at)).toBe(theirs)
  })

  it('[auth.8] a request that the key did not authenticate is no use of it', async () => {
    const { project, owner, key, secret } = await freshKey()
    const stranger = await freshProject()
    await call(KEYS, { token: secret, project: stranger.project })
    await call(KEYS, { token: `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, project })
    expect((await rowOf(owner.token, project, key.id)).last_used_at).toBeNull()
  })
})
