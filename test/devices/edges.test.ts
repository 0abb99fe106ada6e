import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { entriesOf, shown } from '../api-keys/world'
import { advance, stopClock } from '../clock'
import { STORE, tamperedD1 } from '../harness'
import { captureLog, rows } from '../inbox/pipeline'
import { told } from '../members/members'
import { newApi, setLimit } from './devices'
import { insertDevices } from './rows'

/* Devices exactly at a limit, a moment before and after it, the second time, and while something else happens. */

let api: Awaited<ReturnType<typeof newApi>>['api']
let project: string
let consumer: string
beforeAll(async () => {
  const made = await newApi(1_000)
  api = made.api
  project = made.project
  consumer = made.consumer
})
let now: number
beforeEach(() => {
  now = stopClock()
})

let made = 0
/** A key of `ext:u`, with its token. */
async function key(fields: object = {}) {
  made += 1
  const { body } = await api.register('ext:u', `e-${made}`, { platform: 'server', ...fields })
  return { id: body.device.id as string, token: body.token as string, device: body.device, installation: `e-${made}` }
}
/** A key with three tokens. */
async function rotating() {
  const { id, token: old } = await key()
  const current = (await api.rotate('ext:u', id, { grace_s: 86_400 })).body.token as string
  const waiting = (await api.rotate('ext:u', id, { when: 'first_use', grace_s: 60 })).body.token as string
  return { id, old, current, waiting }
}
const reason = async (token: string, options = {}) => (await api.verify(token, options)).body.reason as string | null
const one = async (id: string) => (await api.one('ext:u', id)).body
const seenAt = async (id: string) =>
  (await rows<{ at: number }>('SELECT last_seen_at AS at FROM devices WHERE id = ?', id))[0]?.at

/** D1 that does something once, before the first update of a device. */
function first(work: () => Promise<unknown>) {
  let isFirst = true
  return tamperedD1(async ({ sql, run }) => {
    if (isFirst && /update "devices"/i.test(sql)) {
      isFirst = false
      await work()
    }
    return run()
  })
}

describe('an end', () => {
  it.each([
    [0, 422],
    [1, 200],
    [3650 * DAY, 200],
    [3650 * DAY + 1, 422],
  ])('may be %i ms from now: %i', async (ms, status) => {
    const { id } = await key()
    const answer = await api.update('ext:u', id, { expires_at: iso(now + ms) })
    expect(answer.status).toBe(status)
    if (status === 422) expect(answer.body.errors).toMatchObject([{ pointer: '/expires_at', code: 'out_of_range' }])
    expect((await one(id)).expires_at).toBe(status === 200 ? iso(now + ms) : null)
  })

  it('is the first moment at which the key is not rotated, by any way', async () => {
    const { id } = await key({ expires_at: iso(now + MINUTE) })
    advance(MINUTE - 1)
    expect((await api.rotate('ext:u', id)).status).toBe(200)
    advance(1)
    for (const json of [{}, { when: 'first_use' }])
      expect(told(await api.rotate('ext:u', id, json))).toEqual([409, 'device_expired'])
  })

  it('is named before what comes after it: revoked, expired, blocked', async () => {
    const { api } = await newApi()
    const { device, token } = (await api.register('ext:u', 'k', { expires_at: iso(now + 1) })).body
    const why = async () => (await api.verify(token, {}, { require: ['a'], features: ['f'] })).body
    expect(await why()).toMatchObject({ reason: 'missing_scope', missing_scopes: ['a'], features: null })
    await api.block('ext:u')
    expect(await why()).toMatchObject({ reason: 'consumer_blocked', missing_scopes: [], features: null })
    advance(1)
    expect(await why()).toMatchObject({ reason: 'expired', valid: false, consumer: { state: 'blocked' } })
    await api.revoke('ext:u', device.id)
    expect(await why()).toMatchObject({ reason: 'revoked', valid: false, device: { state: 'revoked' } })
  })
})

describe('when a device was seen', () => {
  it('is written once an hour by its registration, not a millisecond earlier', async () => {
    const { id, installation } = await key()
    const again = () => api.register('ext:u', installation, { platform: 'server' })
    advance(HOUR - 1)
    expect([(await again()).status, await seenAt(id)]).toEqual([200, now])
    advance(1)
    expect([(await again()).status, await seenAt(id)]).toEqual([200, now + HOUR])
  })

  it('by its old token is written once an hour too, for the token and the device', async () => {
    const { id, old, current } = await rotating()
    const used = async (token: string) => {
      expect(await reason(token)).toBe(null)
      return [(await one(id)).previous.last_used_at, await seenAt(id)]
    }
    expect(await used(current)).toEqual([null, now])
    expect(await used(old)).toEqual([iso(now), now])
    advance(HOUR - 1)
    expect(await used(old)).toEqual([iso(now), now])
    expect(await used(current)).toEqual([iso(now), now])
    advance(1)
    expect(await used(current)).toEqual([iso(now), now + HOUR])
    expect(await used(old)).toEqual([iso(now + HOUR), now + HOUR])
  })

  it('is now, when its new token is used for the first time', async () => {
    const { id, waiting } = await rotating()
    advance(MINUTE)
    expect([await reason(waiting), await seenAt(id)]).toEqual([null, now + MINUTE])
  })

  it('is not written of one that was revoked meanwhile, nor for a token that was replaced', async () => {
    const { id, old, current } = await rotating()
    advance(HOUR)
    let DB = first(() => api.rotate('ext:u', id, { grace_s: 3_600 }))
    expect(await reason(old, { bindings: { DB } })).toBe(null)
    expect((await one(id)).previous.last_used_at).toBe(null)
    expect(await reason(current)).toBe(null)
    const other = await key()
    advance(HOUR)
    DB = first(() => api.revoke('ext:u', other.id))
    expect(await reason(other.token, { bindings: { DB } })).toBe(null)
    expect(await seenAt(other.id)).toBe(now + HOUR)
  })

  it('that the database does not write is in the log, and the token is valid all the same', async () => {
    const { id, token } = await key()
    advance(HOUR)
    const log = captureLog()
    const DB = tamperedD1(({ sql, run }) => {
      if (/update "devices"/i.test(sql)) throw new Error('D1_ERROR: out of order')
      return run()
    })
    expect(await reason(token, { bindings: { DB } })).toBe(null)
    expect(log.of('last_seen_at_not_recorded')).toMatchObject([{ device_id: id }])
    const { id: second, waiting } = await rotating()
    expect(await reason(waiting, { bindings: { DB } })).toBe(null)
    expect(log.of('rotation_not_completed')).toMatchObject([{ device_id: second }])
  })
})

describe('a first use', () => {
  it.each([
    ['another rotation replaces it', (id: string) => api.rotate('ext:u', id, { when: 'first_use' }), 'unknown'],
    ['it is ended', (id: string) => api.end('ext:u', id, 'pending'), 'unknown'],
    ['another token takes the place of all', (id: string) => api.rotate('ext:u', id), 'unknown'],
    ['the device is revoked', (id: string) => api.revoke('ext:u', id), 'revoked'],
  ] as const)('while %s is none', async (_, work, why) => {
    const { id, waiting } = await rotating()
    const DB = first(() => work(id))
    expect(await reason(waiting, { bindings: { DB } })).toBe(why)
    expect(await reason(waiting)).toBe(why)
    const actions = (await entriesOf(id)).map(({ action }) => action)
    expect(actions).not.toContain('device.rotation_completed')
  })
})

describe('the audit log', () => {
  const headers = { 'X-Request-Id': 'their-own-id' }

  it('has each step of a rotation whole, with who began it', async () => {
    const { id } = await key({ scopes: ['a'] })
    const step = async (work: () => Promise<unknown>) => {
      advance(1)
      return work()
    }
    const grace = await step(() => api.rotate('ext:u', id, { grace_s: 5 }, { headers }))
    const first = (grace as Awaited<ReturnType<typeof api.rotate>>).body.token
    const begun = await step(() => api.rotate('ext:u', id, { when: 'first_use', grace_s: 7 }, { headers }))
    const second = (begun as Awaited<ReturnType<typeof api.rotate>>).body.token
    await step(() => api.verify(second, { headers }))
    await step(() => api.end('ext:u', id, 'previous', { headers }))
    const [registered, ...entries] = await entriesOf(id)
    const by = registered?.actor_id
    const of = (action: string, details: object) => ({
      ...{ action: `device.${action}`, actor_type: 'api_key', actor_id: by, object_type: 'device' },
      ...{ request_id: expect.stringMatching(/^req_/), client_request_id: headers['X-Request-Id'] },
      details: { consumer, ...details },
    })
    const [one, two] = [shown(first), shown(second)]
    expect(entries).toEqual([
      of('rotated', { token_prefix: one, grace_s: 5 }),
      of('rotation_pending', { token_prefix: two, begun_by: by, when: 'first_use', grace_s: 7 }),
      of('rotation_completed', { token_prefix: two, begun_by: by, grace_s: 7 }),
      of('previous_token_ended', { token_prefix: one }),
    ])
    await api.revoke('ext:u', id, { headers })
    expect((await entriesOf(id)).at(-1)).toEqual(of('revoked', {}))
  })

  it('has scopes that are taken away, an end that is set and taken away, and nothing for what stays', async () => {
    const { id } = await key({ scopes: ['b', 'a'], name: 'One' })
    const end = iso(now + DAY)
    for (const [json, details] of [
      [{ scopes: ['a', 'b', 'a'], name: 'One' }, null],
      [{ scopes: [] }, { fields: ['scopes'], scopes: [] }],
      [{ scopes: [] }, null],
      [
        { expires_at: end, model: 'M', os_version: '1', app_version: '2' },
        { fields: ['model', 'os_version', 'app_version', 'expires_at'], expires_at: end },
      ],
      [
        { expires_at: end, model: null },
        { fields: ['model'], expires_at: end },
      ],
      [{ expires_at: null }, { fields: ['expires_at'], expires_at: 'never' }],
      [{ expires_at: null, model: null, metadata: {} }, null],
      [{ metadata: { a: '1' } }, { fields: ['metadata'] }],
    ] as const) {
      const before = (await entriesOf(id)).length
      advance(1)
      await api.update('ext:u', id, json)
      const added = (await entriesOf(id)).slice(before)
      expect([json, added.map((entry) => [entry.action, entry.details])]).toEqual([
        json,
        details === null ? [] : [['device.updated', { consumer, ...details }]],
      ])
    }
  })
})

describe('sizes', () => {
  it('a text has 100 characters at most, whatever their bytes', async () => {
    const { id } = await key()
    for (const name of ['name', 'model', 'os_version', 'app_version'] as const) {
      expect((await api.update('ext:u', id, { [name]: '🔑'.repeat(100) })).body[name]).toBe('🔑'.repeat(100))
      expect(told(await api.update('ext:u', id, { [name]: '🔑'.repeat(101) }))).toEqual([422, 'validation_failed'])
    }
  })

  it('a token has 1,000 characters at most, and a verification requires 20 scopes at most', async () => {
    const { token } = await key()
    expect([(await api.verify('x'.repeat(1_000))).status, (await api.verify('x'.repeat(1_001))).status]).toEqual([
      200, 422,
    ])
    const require = (n: number) => api.verify(token, {}, { require: Array.from({ length: n }, (_, i) => `s${i}`) })
    expect([(await require(20)).body.missing_scopes?.length, (await require(21)).status]).toEqual([20, 422])
  })

  it.each([
    ['1', 200],
    ['A', 200],
    ['z._:/-9', 200],
    ['x'.repeat(50), 200],
    ['.a', 422],
    ['_a', 422],
    [':a', 422],
    ['/a', 422],
    ['-a', 422],
    ['a+b', 422],
    ['a,b', 422],
    ['a"b', 422],
  ])('a scope %j: %i', async (scope, status) => {
    const { id, token } = await key()
    expect((await api.update('ext:u', id, { scopes: [scope] })).status).toBe(status)
    const asked = await api.verify(token, {}, { require: [scope] })
    expect([asked.status, asked.body.valid]).toEqual([status, status === 200 ? true : undefined])
  })
})

it('a repeated rotation has the grace period of the first, and is refused ten minutes later', async () => {
  const { id, token } = await key()
  const how = { when: 'first_use', grace_s: 60 }
  const again = () => api.rotate('ext:u', id, how, { headers: { 'Idempotency-Key': 'edge' } })
  await again()
  advance(10 * MINUTE - 1)
  const second = await again()
  expect([second.status, second.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
  advance(1)
  const late = await again()
  expect(told(late)).toEqual([409, 'secret_not_replayable'])
  expect(late.body.detail).toContain('10 minutes')
  expect(await reason(second.body.token)).toBe(null)
  expect((await one(id)).previous).toEqual({
    ...{ token_prefix: shown(token), last_used_at: null },
    valid_until: iso(now + 11 * MINUTE),
  })
})

it('a consumer without an external id is named by its own', async () => {
  const row = await rows<{ id: string }>('SELECT id FROM consumers WHERE project_id = ?', project)
  const nameless = 'csm_00000000000000000000000001'
  const stored = await STORE.prepare('SELECT * FROM consumers WHERE id = ?').bind(row[0]?.id).first()
  const { last_name: _, ...columns } = stored ?? {} // a generated column
  const names = Object.keys(columns)
  await STORE.prepare(`INSERT INTO consumers (${names.join()}) VALUES (${names.map(() => '?').join()})`)
    .bind(...names.map((name) => (name === 'id' ? nameless : (columns as Record<string, unknown>)[name])))
    .run()
  const { body } = await api.register(nameless, 'k', { platform: 'server' })
  expect((await api.verify(body.token)).body.consumer).toEqual({
    ...{ id: nameless, external_id: null, external_ids: [], state: 'active' },
  })
})

it('a conflict of two rotations changes what the first one left in nothing', async () => {
  const { id, old, current, waiting } = await rotating()
  const DB = first(() => api.end('ext:u', id, 'pending'))
  const late = await api.rotate('ext:u', id, { grace_s: 60 }, { bindings: { DB } })
  expect(told(late)).toEqual([409, 'rotation_conflict'])
  expect([await reason(old), await reason(current), await reason(waiting)]).toEqual([null, null, 'unknown'])
})

it('of more than 20 expired devices that would have to go, none goes', async () => {
  const { project, owner, api, consumer } = await newApi()
  await insertDevices(project, consumer, 'active', 25)
  await STORE.prepare('UPDATE devices SET expires_at = 1 WHERE project_id = ?').bind(project).run()
  await setLimit(project, owner.token, 3)
  expect(told(await api.register('ext:u', 'new'))).toEqual([409, 'device_limit_reached'])
  await setLimit(project, owner.token, 6)
  expect(told(await api.register('ext:u', 'new'))).toEqual([201, null])
})
