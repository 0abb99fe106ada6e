import { beforeAll, expect, it } from 'vitest'
import { type Answer, countingD1, type RequestOptions, STORE } from '../harness'
import type { as } from './devices'
import { newApi } from './devices'
import { insertDevices } from './rows'

/* What each call costs: round trips after that of the key, and rows written, the audit row among them. */

let api: ReturnType<typeof as>
let project: string
let consumer: string
let token: string
beforeAll(async () => {
  const made = await newApi()
  ;({ api, project, consumer } = made)
  token = (await api.register('ext:u', 'kept')).body.token
})

/** The trips, and the rows read and written, of a call that is expected to succeed. */
async function cost(work: (options: RequestOptions) => Promise<Answer>) {
  const { DB, count } = countingD1()
  const answer = await work({ bindings: { DB } })
  expect(answer.status, answer.text).toBeLessThan(300)
  return { trips: count.trips, written: count.rows_written, read: count.rows_read }
}
/** The trip that reads the key. */
const KEY = 1
const register = (installation: string, fields: object = {}) =>
  cost((options) => api.register('ext:u', installation, fields, options))

it('registering: one trip; five rows if it is new, one if it changed, none if it is the same', async () => {
  expect(await register('new', { name: 'A', model: 'B' })).toMatchObject({ trips: KEY + 1, written: 5 })
  expect(await register('new', { name: 'A' })).toMatchObject({ trips: KEY + 1, written: 0 })
  expect(await register('new', { name: 'C' })).toMatchObject({ trips: KEY + 1, written: 1 })
  expect(await register('roomy', { when_full: 'replace_oldest' })).toMatchObject({ trips: KEY + 1, written: 5 })
  const renewed = await register('new', { new_token: true })
  expect(renewed.trips).toBe(KEY + 1)
  expect(renewed.written).toBe(5)
})

it('replacing a device: one trip; four rows more, those of the audit log and the feed among them', async () => {
  const { api } = await newApi(1)
  await api.register('ext:u', 'one')
  const replacing = await cost((o) => api.register('ext:u', 'two', { when_full: 'replace_oldest' }, o))
  expect(replacing.trips).toBe(KEY + 1)
  expect(replacing.written).toBe(5 + 4)
})

it('verifying: it rides with the key, and writes nothing; a malformed token reads no device', async () => {
  const valid = await cost((o) => api.verify(token, o))
  // As many rows as before devices had scopes, and tokens that wait.
  expect(valid).toMatchObject({ trips: KEY, written: 0, read: 7 })
  // Whether it waits for its first use, or was replaced, is asked in one more trip.
  expect(await cost((o) => api.verify(`svc_dv_${'0'.repeat(64)}`, o))).toMatchObject({ trips: KEY + 1, written: 0 })
  const malformed = await cost((o) => api.verify('malformed', o))
  expect(malformed).toMatchObject({ trips: KEY, written: 0 })
  expect(malformed.read).toBeLessThan(valid.read)
})

it('rotating: two trips; the first verification of the new token, and one of the old token later, take more', async () => {
  const { body } = await api.register('ext:u', 'rotating')
  const { id } = body.device
  const rotate = (json: object) => cost((o) => api.rotate('ext:u', id, json, o))
  expect(await rotate({ when: 'first_use' })).toMatchObject({ trips: KEY + 2, written: 2 + 2 })
  const fresh = (await api.rotate('ext:u', id, { when: 'first_use', grace_s: 60 })).body.token
  const verify = (of: string) => cost((o) => api.verify(of, o))
  expect(await verify(fresh)).toMatchObject({ trips: KEY + 2, written: 6 + 2 })
  expect(await verify(fresh)).toMatchObject({ trips: KEY, written: 0, read: 7 })
  // The first one notes that it was used.
  expect(await verify(body.token)).toMatchObject({ trips: KEY + 2, written: 1 })
  expect(await verify(body.token)).toMatchObject({ trips: KEY + 1, written: 0 })
  expect((await rotate({})).trips).toBe(KEY + 2)
})

it('changing a device: one trip; nothing is written if nothing differs', async () => {
  const { body } = await api.register('ext:u', 'changing')
  const change = (json: object) => cost((o) => api.update('ext:u', body.device.id, json, o))
  expect(await change({ scopes: ['a'], metadata: { a: 'b' } })).toMatchObject({ trips: KEY + 1, written: 1 + 2 })
  expect(await change({ scopes: ['a'], metadata: { a: 'b' } })).toMatchObject({ trips: KEY + 1, written: 0 })
})

it('registering a key: its entry and its change in addition', async () => {
  const server = { platform: 'server', scopes: ['a'], expires_at: '2035-01-01T00:00:00Z' }
  expect(await register('a-key', server)).toMatchObject({ trips: KEY + 1, written: 6 + 2 })
  expect(await register('a-key', server)).toMatchObject({ trips: KEY + 1, written: 0 })
})

it('a list, and a consumer with its number of devices: they ride with the key', async () => {
  expect(await cost((o) => api.list('ext:u', '', o))).toMatchObject({ trips: KEY, written: 0 })
  expect(await cost((o) => api.get('ext:u', o))).toMatchObject({ trips: KEY, written: 0 })
})

it('revoking: one trip', async () => {
  const { body } = await api.register('ext:u', 'revoked')
  const first = await cost((o) => api.revoke('ext:u', body.device.id, o))
  expect(first.trips).toBe(KEY + 1)
  expect(first.written).toBe(2 + 2)
  expect(await cost((o) => api.revoke('ext:u', body.device.id, o))).toMatchObject({ trips: KEY + 1, written: 0 })
})

it('does not grow with the devices of other consumers, or with revoked ones', async () => {
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 20000)
     INSERT INTO devices (project_id, token_hash, id, consumer_id, installation_id, platform, state, last_seen_at, created_at)
     SELECT ?, 'hash' || v, printf('dev_%026d', v), 'csm_' || (v % 5000), 'i' || v, 'web', 'active', v, v FROM n`,
  )
    .bind(project)
    .run()
  await insertDevices(project, consumer, 'revoked', 1000)
  const { body } = await api.register('ext:u', 'last')
  await api.consumer('from')
  await api.register('ext:from', 'moving')
  for (const [what, most] of [
    [() => cost((o) => api.verify(token, o)), 12],
    [() => register('one more'.replace(' ', '-')), 50],
    [() => register('kept', { name: 'New' }), 50],
    [() => register('another', { when_full: 'replace_oldest' }), 75],
    [() => cost((o) => api.get('ext:u', o)), 30],
    [() => cost((o) => api.list('ext:u', '?limit=10', o)), 80],
    [() => cost((o) => api.list('ext:u', '?state=revoked&limit=10', o)), 50],
    [() => cost((o) => api.revoke('ext:u', body.device.id, o)), 1100],
    [() => register('kept', { new_token: true }), 50],
    [() => cost((o) => api.merge('ext:from', 'ext:u', o)), 2200],
  ] as const) {
    const { read } = await what()
    expect(read, String(what)).toBeLessThanOrEqual(most)
  }
})
