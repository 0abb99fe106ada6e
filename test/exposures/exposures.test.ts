import { describe, expect, it, vi } from 'vitest'
import { newDeviceToken } from '../../src/devices/token'
import { ANSWER_AFTER_MS } from '../../src/exposures/limits'
import { sha256Hex } from '../../src/lib/crypto'
import { DAY, HOUR } from '../../src/lib/time'
import { MAX_DEVICE_NOTICES } from '../../src/notices/limits'
import { insertConsumer } from '../consumers/rows'
import { newApi } from '../devices/devices'
import { insertDevice } from '../devices/rows'
import {
  call,
  countingD1,
  DIRECTORY,
  failingD1,
  freshAddress,
  freshKey,
  freshProject,
  KEYS,
  mailbox,
  mint,
  revokedKey,
  rotatedKey,
  STORE,
  STORES,
  signedIn,
  tamperedD1,
} from '../harness'
import { insertNotice } from '../notices/world'
import { isStored, logged, madeUp, noticesIn, report } from './world'

const same = { status: 202, body: { accepted: true } }
const status = async (secret: string, project: string) =>
  (await call(`${KEYS}/self`, { token: secret, project })).status
const onExposure = (project: string, token: string, on_exposure: string) =>
  call(`/platform/v1/projects/${project}`, { method: 'PATCH', token, project, json: { settings: { on_exposure } } })

describe('an API key', () => {
  it('is revoked, with an entry of the service, a change and a notice', async () => {
    const { project, key, secret } = await freshKey()
    expect(await report(secret)).toMatchObject(same)
    expect(await status(secret, project)).toBe(401)
    const { key_prefix } = key
    expect(await logged(key.id)).toEqual([
      ['api_key.revoked', 'exposures', { key_prefix, secret: 'current', exposed: true }],
    ])
    expect(await noticesIn(project)).toMatchObject([
      {
        kind: 'key_exposed',
        object_id: key.id,
        facts: { object: 'api_key', name: 'test key', key_prefix, ended: true, source: null, url: null },
      },
    ])
    const changes = await STORE.prepare(
      "SELECT count(*) AS n FROM changes, json_each(items) c WHERE project_id = ? AND c.value ->> 'type' = 'api_key.revoked'",
    )
      .bind(project)
      .first('n')
    expect(changes).toBe(1)
  })

  it('ends once: the same report again changes nothing, and is answered alike', async () => {
    const { project, key, secret } = await freshKey()
    await Promise.all([report(secret), report(secret), report(secret)])
    expect(await report(secret)).toMatchObject(same)
    expect(await logged(key.id)).toHaveLength(1)
    expect(await noticesIn(project)).toHaveLength(1)
  })

  it.each(['pending', 'previous'])('is revoked by its %s secret too', async (which) => {
    const { project, owner, key, secret } = await freshKey()
    const rotated = await call(`${KEYS}/${key.id}/rotate`, {
      method: 'POST',
      token: owner.token,
      project,
      json: { when: which === 'pending' ? 'first_use' : 'now', grace_s: 3600 },
    })
    const other = which === 'pending' ? rotated.body.secret : secret
    await report(other)
    for (const one of [secret, rotated.body.secret]) expect(await status(one, project)).toBe(401)
    expect(await logged(key.id)).toMatchObject([['api_key.revoked', 'exposures', { secret: which, exposed: true }]])
  })

  it('stays if the secret no longer works', async () => {
    for (const world of [await revokedKey(), await rotatedKey()]) {
      expect(await report(world.secret)).toMatchObject(same)
      expect(await logged(world.key.id)).toEqual([])
      expect(await noticesIn(world.project)).toEqual([])
    }
    const { project, key, secret } = await freshKey()
    await STORE.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?')
      .bind(Date.now() - HOUR, key.id)
      .run()
    await report(secret)
    expect(await noticesIn(project)).toEqual([])
  })

  it('of a deleted project is revoked, so that it does not come back with the project', async () => {
    const { project, owner, key, secret } = await freshKey()
    await call(`/platform/v1/projects/${project}?name=Test`, { method: 'DELETE', token: owner.token })
    await report(secret)
    await call(`/platform/v1/projects/${project}/restore`, { method: 'POST', token: owner.token })
    expect(await status(secret, project)).toBe(401)
    expect(await logged(key.id)).toHaveLength(1)
  })

  it('is only told of, once, with on_exposure: notify; which no API key can set', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect((await onExposure(project, secret, 'notify')).body.code).toBe('console_session_required')
    expect((await onExposure(project, owner.token, 'notify')).body.settings.on_exposure).toBe('notify')
    for (let i = 0; i < 3; i++) expect(await report(secret)).toMatchObject(same)
    expect(await status(secret, project)).toBe(200)
    expect(await logged(key.id)).toMatchObject([['api_key.exposed', 'exposures', { secret: 'current' }]])
    expect(await noticesIn(project)).toMatchObject([{ kind: 'key_exposed', facts: { ended: false } }])
    await onExposure(project, owner.token, 'revoke')
    await report(secret)
    expect(await status(secret, project)).toBe(401)
  })
})

describe('a device', () => {
  it('is revoked, whatever its project', async () => {
    const { project } = await freshProject()
    const { token, hash } = await newDeviceToken()
    const consumer = await insertConsumer(project, 'one')
    const id = await insertDevice(project, consumer, { token_hash: hash })
    expect(await report(token)).toMatchObject(same)
    const row = await STORE.prepare('SELECT state FROM devices WHERE id = ?').bind(id).first('state')
    expect(row).toBe('revoked')
    expect(await logged(id)).toEqual([['device.revoked', 'exposures', { consumer, exposed: true }]])
    expect(await noticesIn(project)).toMatchObject([{ object_id: id, facts: { object: 'device', consumer } }])
    await report(token)
    expect(await logged(id)).toHaveLength(1)
  })
})

it('devices that a customer reports leave room for the notice of a key', async () => {
  const { project, secret, key } = await freshKey()
  const consumer = await insertConsumer(project, 'many')
  const made = await Promise.all(Array.from({ length: MAX_DEVICE_NOTICES + 1 }, newDeviceToken))
  const ids: string[] = []
  for (const { hash } of made) ids.push(await insertDevice(project, consumer, { token_hash: hash }))
  // Notices about keys take no room of theirs.
  const facts = '{"object":"api_key","ended":true}'
  for (let i = 0; i < MAX_DEVICE_NOTICES; i++) await insertNotice(project, { kind: 'key_exposed', facts })
  for (const { token } of made) await report(token)
  await report(secret)
  expect(await STORE.prepare("SELECT count(*) AS n FROM devices WHERE state = 'active'").first('n')).toBe(0)
  for (const id of ids) expect(await logged(id)).toHaveLength(1)
  const told = (await noticesIn(project)).map(({ object_id }) => object_id).filter((id) => !id.startsWith('con_'))
  expect(told.toSorted()).toEqual([...ids.slice(0, MAX_DEVICE_NOTICES), key.id].toSorted())
})

describe('a device that is being rotated', () => {
  const HOW = [
    ['a token that waits for its first use', { when: 'first_use' }, 'pending', 'revoked'],
    ['the replaced token while it works', { grace_s: 3_600 }, 'previous', 'revoked'],
    ['the replaced token that no longer works', {}, 'previous', 'active'],
  ] as const
  it.each(HOW)('%s', async (_, how, which, state) => {
    const { api, project } = await newApi()
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    const fresh = (await api.rotate('ext:u', device.id, how)).body.token
    expect(await report(which === 'pending' ? fresh : token)).toMatchObject(same)
    expect((await api.one('ext:u', device.id)).body.state).toBe(state)
    expect((await noticesIn(project)).map(({ object_id }) => object_id)).toEqual(state === 'revoked' ? [device.id] : [])
  })

  it('and is revoked by its owner at the same moment has one entry', async () => {
    const { api, project } = await newApi()
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    let isFirst = true
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/update "devices"/i.test(sql) && isFirst) {
        isFirst = false
        await api.revoke('ext:u', device.id)
      }
      return run()
    })
    expect(await report(token, { bindings: { DB } })).toMatchObject(same)
    expect([isFirst, await logged(device.id), await noticesIn(project)]).toEqual([false, [], []])
  })

  it('and has expired stays as it is', async () => {
    const { api, project } = await newApi()
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    await STORE.prepare('UPDATE devices SET expires_at = 1 WHERE id = ?').bind(device.id).run()
    await report(token)
    expect((await api.one('ext:u', device.id)).body.state).toBe('active')
    expect(await noticesIn(project)).toEqual([])
  })
})

it('what is in a project that is being purged is left to the purge, which would miss new entries', async () => {
  const { api, project, owner } = await newApi()
  const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
  const { key, secret } = await mint(owner.token, project)
  await STORE.prepare('UPDATE projects SET purging_since = 1 WHERE id = ?').bind(project).run()
  for (const one of [secret, token]) expect(await report(one)).toMatchObject(same)
  expect([await logged(key.id), await logged(device.id), await noticesIn(project)]).toEqual([[], [], []])
})

describe('a session', () => {
  it('is ended, and its user gets an email and an entry', async () => {
    const { user, email, token } = await signedIn()
    const { EMAIL, mails: sent } = mailbox()
    expect(await report(token, { bindings: { EMAIL } })).toMatchObject(same)
    expect((await call('/auth/user', { token })).body.code).toBe('unknown_session')
    expect(sent).toMatchObject([{ to: email, subject: 'One of your sessions was exposed' }])
    const events = await DIRECTORY.prepare('SELECT type FROM account_events WHERE user_id = ?').bind(user).all()
    expect(events.results).toEqual([{ type: 'session_exposed' }])
    await report(token, { bindings: { EMAIL } })
    expect(sent).toHaveLength(1)
  })

  it('that has ended gets nothing', async () => {
    const { user, token } = await signedIn()
    await DIRECTORY.prepare('UPDATE sessions SET expires_at = ? WHERE user_id = ?')
      .bind(Date.now() - DAY, user)
      .run()
    const { EMAIL, mails: sent } = mailbox()
    await report(token, { bindings: { EMAIL } })
    expect(sent).toEqual([])
  })
})

describe('an attacker', () => {
  it('learns nothing from the answer or its time', async () => {
    const { secret } = await freshKey()
    const { secret: dead } = await revokedKey()
    const { token } = await signedIn()
    const tried = [
      'x',
      'svc_v1_0',
      madeUp(),
      `svc_dv_${'0'.repeat(64)}`,
      `svc_cs_${'1'.repeat(64)}`,
      dead,
      secret,
      token,
    ]
    for (const one of tried) {
      const since = performance.now()
      const { status, text, headers } = await report(one)
      expect([status, text, headers.get('Cache-Control')]).toEqual([202, '{"accepted":true}', 'no-store'])
      const took = performance.now() - since
      expect(took).toBeGreaterThan(ANSWER_AFTER_MS - 20)
    }
  })

  it('costs little with what is no secret: nothing without its form or checksum, else one trip to each store', async () => {
    for (const [secret, trips] of [
      ['x', 0],
      [`svc_v1_${'0'.repeat(96)}`, 0],
      [madeUp(), 1],
    ] as const) {
      const { DB, count } = countingD1()
      await report(secret, { bindings: { DB } })
      expect(count.rows_written).toBe(0)
      expect(count.trips).toBeGreaterThanOrEqual(trips)
      expect(count.trips).toBeLessThanOrEqual(trips * 3)
      expect(count.rows_read).toBeLessThan(10 + 20 * STORES.length)
    }
  })

  it('is limited by address, and by size', async () => {
    const headers = { 'CF-Connecting-IP': freshAddress() }
    const refusing = { limit: async () => ({ success: false }) } as unknown as RateLimit
    const { secret, project } = await freshKey()
    const { DB, count } = countingD1()
    const limited = await report(secret, { headers, bindings: { DB, LIMIT_EXPOSURES: refusing } })
    expect([limited.status, limited.headers.get('Retry-After'), count.trips]).toEqual([429, '10', 0])
    expect(limited.headers.get('RateLimit-Policy')).toBe('"exposures";q=30;w=60')
    expect((await report('x'.repeat(1001))).status).toBe(422)
    expect((await report('x'.repeat(70_000))).status).toBe(413)
    expect((await report([secret])).status).toBe(422)
    expect(await status(secret, project)).toBe(200)
  })

  it('finds the secret in no log and in no table', async () => {
    const lines: string[] = []
    const spies = (['log', 'error', 'warn'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((line) => void lines.push(String(line))),
    )
    const { secret } = await freshKey()
    const { token } = await signedIn()
    const device = (await newDeviceToken()).token
    for (const one of [secret, token, device]) {
      await report(one)
      await report(one, { bindings: { DB: failingD1('D1_ERROR: internal error') } })
      expect(await isStored(one)).toBe(false)
      expect(lines.join('\n')).not.toContain(one.slice(7, 40))
      expect(lines.join('\n')).not.toContain(await sha256Hex(one))
    }
    for (const spy of spies) spy.mockRestore()
  })

  it('gets a 503 while the database fails: the same report again ends the key', async () => {
    const { project, secret } = await freshKey()
    const failed = await report(secret, { bindings: { DB: failingD1('D1_ERROR: internal error') } })
    expect(failed.status).toBe(503)
    await report(secret)
    expect(await status(secret, project)).toBe(401)
  })
})
