import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_EXPIRED } from '../../src/entitlements/limits'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { catalogAs } from '../catalog/catalog'
import { insertFeatures, insertPlan } from '../catalog/rows'
import { advance, stopClock } from '../clock'
import { as } from '../consumers/consumers'
import { insertConsumer, insertMerged } from '../consumers/rows'
import { type Answer, call, countingD1, freshKey, type RequestOptions, STORE } from '../harness'
import { keepHouse, rows } from '../inbox/pipeline'
import { insertGrants } from './rows'
import { entitlementWorld, sellPlans } from './world'

let project: string
let token: string
let consumer: string
beforeEach(async () => {
  const made = await freshKey()
  project = made.project
  token = made.secret
  consumer = await insertConsumer(project, 'ada')
  await insertFeatures(project, 'sso', 'seats', 'limits')
  await insertPlan(project, 'pro')
})

const ask = (method: string, path = '', options: RequestOptions = {}) =>
  call(`/platform/v1/billing/grants${path}`, { method, project, token, ...options })
const grant = (json: object, options?: RequestOptions) =>
  ask('POST', '', { json: { consumer: 'ext:ada', ...json }, ...options })
const listed = async (query = '') => (await ask('GET', query)).body.data
const pointers = ({ body }: Answer) => body.errors?.map(({ pointer }) => pointer)

describe('a grant', () => {
  it('gives a feature or a plan, or denies a feature; it is listed and revoked', async () => {
    const expires_at = iso(Date.now() + DAY)
    const made = [
      await grant({ feature: 'sso' }),
      await grant({ feature: 'seats', value: 10, expires_at, reason: 'pilot' }),
      await grant({ feature: 'limits', value: { rows: 5 } }),
      await grant({ plan: 'pro', consumer }),
      await grant({ feature: 'sso', effect: 'deny' }),
    ]
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(made.map(({ body }) => [body.feature, body.plan, body.effect, body.value])).toEqual([
      ['sso', null, 'allow', true],
      ['seats', null, 'allow', 10],
      ['limits', null, 'allow', { rows: 5 }],
      [null, 'pro', 'allow', null],
      ['sso', null, 'deny', null],
    ])
    expect(made[1]?.body).toMatchObject({ consumer_id: consumer, expires_at, reason: 'pilot', revoked_at: null })
    const all = await listed()
    expect(all).toEqual(expect.arrayContaining(made.map(({ body }) => body)))
    expect(await listed('?consumer=ext:ada')).toEqual(all)
    expect(await listed('?consumer=ext:nobody')).toEqual([])
    const { id } = made[0]?.body ?? { id: '' }
    expect([(await ask('DELETE', `/${id}`)).status, (await ask('DELETE', `/${id}`)).status]).toEqual([204, 204])
    expect((await ask('DELETE', '/grt_none')).status).toBe(404)
    expect((await listed()).find((one) => one.id === id)?.revoked_at).toMatch(/^20/)
    const entries = await rows<{ action: string; object_id: string; details: string }>(
      "SELECT action, object_id, details FROM audit_log WHERE project_id = ? AND action LIKE 'grant.%' AND object_id = ?",
      project,
      id,
    )
    const details = { consumer, feature: 'sso', plan: null, effect: 'allow' }
    expect(entries.map((one) => [one.action, JSON.parse(one.details)])).toEqual([
      ['grant.created', details],
      ['grant.revoked', details],
    ])
  })

  it.each<[string, object, string]>([
    ['neither a feature nor a plan', {}, ''],
    ['both', { feature: 'sso', plan: 'pro' }, ''],
    ['an unknown feature', { feature: 'nope' }, '/feature'],
    ['an unknown plan', { plan: 'nope' }, '/plan'],
    ['no value for a quantity', { feature: 'seats' }, '/value'],
    ['no value for a config', { feature: 'limits' }, '/value'],
    ['a wrong value', { feature: 'seats', value: true }, '/value'],
    ['false', { feature: 'sso', value: false }, '/value'],
    ['a value for a plan', { plan: 'pro', value: 5 }, '/value'],
    ['a value that is denied', { feature: 'seats', value: 5, effect: 'deny' }, '/value'],
    ['a denied plan', { plan: 'pro', effect: 'deny' }, '/plan'],
    ['an end in the past', { feature: 'sso', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [
      'an end before its start',
      { feature: 'sso', starts_at: '2099-01-02T00:00:00Z', expires_at: '2099-01-01T00:00:00Z' },
      '/expires_at',
    ],
  ])('does not take %s', async (_, json, pointer) => {
    const answer = await grant(json)
    expect([answer.status, pointers(answer)]).toEqual([422, [pointer]])
    expect(await listed()).toEqual([])
  })

  it('that was revoked or has expired since counted at an earlier time, and one that was made since did not', async () => {
    stopClock()
    const world = await entitlementWorld()
    await sellPlans(world)
    await world.consumers.put('ada')
    const start = Date.now()
    const grants = [
      { feature: 'sso' },
      { feature: 'seats', value: 7, expires_at: iso(start + 2 * HOUR) },
      { feature: 'limits', value: { rows: 1 } },
    ]
    const ids = []
    for (const grant of grants.slice(0, 2)) ids.push((await world.grant({ consumer: 'ext:ada', ...grant })).body.id)
    advance(3 * HOUR)
    await world.revoke(ids[0] ?? '')
    await world.grant({ consumer: 'ext:ada', ...grants[2] })
    const allowed = async (query: string) => {
      const { features } = await world.one('ext:ada', query)
      return ['sso', 'seats', 'limits'].map((key) => features[key]?.allowed)
    }
    expect(await allowed(`?at=${iso(start + HOUR)}`)).toEqual([true, true, false])
    advance(HOUR)
    expect(await allowed(`?at=${iso(Date.now())}`)).toEqual([false, false, true])
    expect(await allowed('')).toEqual([false, false, true])
  })

  it('is for a consumer that is there and not merged', async () => {
    const [merged] = await insertMerged(project, consumer, 1)
    expect((await grant({ feature: 'sso', consumer: 'ext:nobody' })).status).toBe(404)
    expect((await grant({ feature: 'sso', consumer: merged })).body.code).toBe('consumer_merged')
    expect(await listed()).toEqual([])
  })

  it('moves with a merge, which refuses more than a consumer can have', async () => {
    const other = await insertConsumer(project, 'grace')
    const id = await insertGrants(project, other, 60)
    await insertGrants(project, consumer, 41)
    const consumers = as(project, token)
    expect((await consumers.merge('ext:grace', 'ext:ada')).body.code).toBe('merge_limit_reached')
    await ask('DELETE', `/${id}`)
    expect((await consumers.merge('ext:grace', 'ext:ada')).status).toBe(200)
    expect(await listed('?consumer=ext:grace&limit=100')).toHaveLength(100)
    expect(await rows('SELECT 1 FROM grants WHERE project_id = ? AND consumer_id = ?', project, other)).toEqual([])
  })

  it('keeps its feature from being deleted until it ends', async () => {
    stopClock()
    const catalog = catalogAs(project, token)
    await grant({ feature: 'seats', value: 1, expires_at: iso(Date.now() + DAY) })
    expect((await catalog.dropFeature('seats')).status).toBe(409)
    advance(DAY)
    expect((await catalog.dropFeature('seats')).status).toBe(204)
  })

  it('keeps its feature from being deleted also if it is one of many, of which one transaction looks at a part', async () => {
    const catalog = catalogAs(project, token)
    const [made] = [(await grant({ feature: 'seats', value: 1 })).body.id]
    await STORE.prepare(
      `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 11000)
        SELECT ?1, 'csm_' || v, 'grt_' || printf('%09d', v), 'sso', 'allow', 'true', 'usr' FROM n`,
    )
      .bind(project)
      .run()
    const drop = async () => {
      const { DB, count } = countingD1()
      const { status } = await catalog.dropFeature('seats', { bindings: { DB } })
      return [status, count.trips]
    }
    expect(await drop()).toEqual([409, 1 + 3])
    await ask('DELETE', `/${made}`)
    expect(await drop()).toEqual([204, 1 + 3])
  })

  it('is deleted when its end is past the retention of records, and a live one never', async () => {
    const now = stopClock()
    const kept = (await grant({ feature: 'sso' })).body.id
    const expired = (await grant({ feature: 'sso', expires_at: iso(now + DAY) })).body.id
    const revoked = (await grant({ feature: 'sso', expires_at: iso(now + 900 * DAY) })).body.id
    await ask('DELETE', `/${revoked}`)
    // More than one step walks, of a project before this one.
    const other = await freshKey()
    await STORE.prepare(
      `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, expires_at, actor)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
        SELECT ?1, 'csm_' || v, 'grt_0' || printf('%09d', v), 'sso', 'allow', 'true', iif(v % 2, NULL, 1), 'usr' FROM n`,
    )
      .bind(other.project)
      .run()
    const left = async (of: string) =>
      (await rows('SELECT id FROM grants WHERE project_id = ?', of)).map(({ id }) => id)
    advance(400 * DAY + 2 * HOUR)
    await keepHouse()
    expect((await left(project)).toSorted()).toEqual([kept, expired].toSorted())
    expect(await left(other.project)).toHaveLength(2500)
    advance(2 * DAY)
    await keepHouse()
    expect(await left(project)).toEqual([kept])
  })

  it('costs a trip, two rows, an audit row and a row of the feed; revoked, one row less', async () => {
    await listed() // from here on, the isolate knows the key
    const cost = async (work: (options: RequestOptions) => Promise<Answer>) => {
      const { DB, count } = countingD1()
      const answer = await work({ bindings: { DB } })
      expect(answer.status, answer.text).toBeLessThan(300)
      return { answer, cost: [count.trips, count.rows_written] }
    }
    const made = await cost((o) => grant({ feature: 'sso' }, o))
    expect(made.cost).toEqual([2, 2 + 2])
    const { id } = made.answer.body
    expect((await cost((o) => ask('DELETE', `/${id}`, o))).cost).toEqual([2, 1 + 2])
    expect((await cost((o) => ask('DELETE', `/${id}`, o))).cost).toEqual([2, 0])
    expect((await cost((o) => ask('GET', '', o))).cost).toEqual([1, 0])
  })
})

/** A grant, and others that expire with it: more of them than an answer looks at. */
const HIDING: [grant: object, others: object][] = [
  [{ plan: 'pro' }, { plan: 'starter' }],
  [{ plan: 'pro' }, { feature: 'seats', value: 1 }],
  [{ feature: 'sso' }, { feature: 'seats', value: 1 }],
  [{ feature: 'sso' }, { feature: 'sso', effect: 'deny' }],
]

it.each(HIDING)('that %o has expired is not hidden by many newer ones: %o', async (one, other) => {
  stopClock()
  const world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('ada')
  const give = (json: object) => world.grant({ consumer: 'ext:ada', expires_at: iso(now + HOUR), ...json })
  const now = Date.now()
  expect((await give(one)).status).toBe(201)
  advance(1)
  for (let n = 0; n <= MAX_EXPIRED; n++) expect((await give(other)).status).toBe(201)
  advance(HOUR)
  const [checked] = (await world.check(['ext:ada'], ['sso'])).body.data
  expect(checked?.features.sso).toMatchObject({ allowed: false, reason: 'expired' })
})
