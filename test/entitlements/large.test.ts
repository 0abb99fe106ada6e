import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  MAX_CATALOG_BYTES,
  MAX_FEATURES,
  MAX_PLAN_PAGE_BYTES,
  MAX_PLANS,
  MAX_REVISION_BYTES,
} from '../../src/catalog/limits'
import {
  MAX_EXPLANATION_BYTES,
  MAX_PREVIEW_WORK,
  MAX_SMALL_PLAN,
  MAX_SUBSCRIPTION_ITEMS,
} from '../../src/entitlements/limits'
import { ANSWER_CHUNK, MAX_SMALL_BYTES } from '../../src/http/limits'
import { HOUR, iso } from '../../src/lib/time'
import { MAX_KEPT_WORD_BYTES, MAX_SUBSCRIPTION_ITEMS_KEPT } from '../../src/vendors/limits'
import { stopClock } from '../clock'
import { begin, STORE, tamperedD1 } from '../harness'
import { type EntitlementWorld, entitlementWorld } from './world'

/* A catalog that is as large as plans can be: of 200 features, each of 100 plans gives 30 configs of 2 KB and 70 booleans. */

/** Bytes of what one of the plans gives. */
const PLAN = 64_000
const NUMBERS = (n: number) => `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${n})`
const CATALOG = [
  `INSERT INTO features (project_id, key, name, type, combine, created_at)
    ${NUMBERS(MAX_FEATURES)} SELECT ?1, 'f' || v, 'A feature', iif(v % 3 = 0, 'config', 'boolean'), NULL, 0 FROM n`,
  `INSERT INTO plans (project_id, id, key, name, rank, state, features, revision, updated_at)
    ${NUMBERS(MAX_PLANS)} SELECT ?1, printf('pln_%026d', v), 'p' || v, 'A plan', v, 'active', (SELECT json_group_object(key,
      json_object('value', iif(type = 'config', json_quote(v || hex(zeroblob(1010))), json('true')), 'per_seat', json('false')))
      FROM (SELECT * FROM (SELECT * FROM features WHERE project_id = ?1 AND type = 'config' ORDER BY key LIMIT 30) UNION ALL
        SELECT * FROM (SELECT * FROM features WHERE project_id = ?1 AND type = 'boolean' ORDER BY key LIMIT 70))), 1, 0 FROM n`,
]
const idOf = (kind: string, n: number) => `${kind}_${String(n).padStart(26, '0')}`

let world: EntitlementWorld
beforeEach(async () => {
  stopClock(1_780_000_000_000)
  world = await entitlementWorld()
  for (const sql of CATALOG) await STORE.prepare(sql).bind(world.project).run()
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** Consumers, each with a grant of the first plan. */
async function insertConsumers(n: number): Promise<void> {
  for (const sql of [
    `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
      ${NUMBERS(n)} SELECT ?1, printf('csm_%026d', v), '{}', 'active', 1, 0, 0 FROM n`,
    `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
      SELECT ?1, id, 'grt_' || substr(id, 5), '${idOf('pln', 1)}', 'allow', 'usr' FROM consumers WHERE project_id = ?1`,
  ]) {
    await STORE.prepare(sql).bind(world.project).run()
  }
}

/** Grants of the first plans to a consumer. */
async function grantPlans(n: number, consumer = idOf('csm', 1)): Promise<void> {
  await STORE.prepare(
    `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
      ${NUMBERS(n)} SELECT ?1, ?2, printf('grt_9%025d', v), printf('pln_%026d', v), 'allow', 'usr' FROM n`,
  )
    .bind(world.project, consumer)
    .run()
}

/** D1 that tells how many bytes it has answered with. */
function measuredD1() {
  const count = { bytes: 0 }
  const DB = tamperedD1(async ({ run }) => {
    const results = await run()
    count.bytes += JSON.stringify(results.map((one) => one.results)).length
    return results
  })
  return { bindings: { DB }, count }
}

/** The first piece in which an answer comes. What waits for room while it is sent comes in small ones. */
async function firstPiece(path: string, json?: object): Promise<number> {
  const { token, project } = world
  const options = { token, project, ...(json && { method: 'POST', json }) }
  const { response } = await begin(`/platform/v1${path}`, options)
  expect(response.status).toBe(200)
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return value?.byteLength ?? 0
}

describe('a preview of a plan of a large catalog', () => {
  it('works out a part in each call, gives way to others meanwhile, and counts every consumer once', async () => {
    const consumers = 1_200
    await insertConsumers(consumers)
    const wait = vi.spyOn(scheduler, 'wait')
    const found: { affected: number; lost: number }[] = []
    let cursor: string | null | undefined
    while (cursor !== null) {
      const { status, body, text } = await world.catalog.preview(idOf('pln', 1), {
        features: {},
        ...(cursor && { cursor }),
      })
      expect(status, text).toBe(200)
      found.push({ affected: body.affected, lost: Object.values(body.losses).reduce((sum, n) => sum + n, 0) })
      cursor = body.next_cursor
    }
    for (const { affected } of found) expect(affected * 100 * 2).toBeLessThanOrEqual(MAX_PREVIEW_WORK)
    const sum = (name: 'affected' | 'lost') => found.reduce((total, one) => total + one[name], 0)
    // The configs change for all, and count as neither a gain nor a loss.
    expect([sum('affected'), sum('lost')]).toEqual([consumers, consumers * 100])
    expect(wait.mock.calls.length).toBeGreaterThan(found.length * 10)
  })

  it('derives only what can become different', async () => {
    await insertConsumers(600)
    const plan = (await world.catalog.get(idOf('pln', 1))).body
    const { f1: _, ...features } = plan.features
    const { body } = await world.catalog.preview(plan.id, { features })
    expect(body).toMatchObject({ affected: 600, losses: { f1: 600 }, has_more: false })
  })
})

describe('reads of a large catalog', () => {
  it('answer with pages that are cut by bytes', async () => {
    const ids: string[] = []
    let cursor: string | null | undefined
    while (cursor !== null) {
      const path = `/billing/plans?limit=100${cursor ? `&cursor=${cursor}` : ''}`
      const { bindings, count } = measuredD1()
      const { body, text } = await world.ask<{ data: { id: string }[]; next_cursor: string | null }>('GET', path, {
        bindings,
      })
      for (const size of [text.length, count.bytes]) expect(size).toBeLessThan(MAX_PLAN_PAGE_BYTES + 2 * PLAN)
      expect(body.data.length).toBeGreaterThan(0)
      ids.push(...body.data.map(({ id }) => id))
      cursor = body.next_cursor
    }
    expect(ids).toEqual(Array.from({ length: MAX_PLANS }, (_, n) => idOf('pln', MAX_PLANS - n)))
  })

  it.each<[string, string, string, object?]>([
    ['the entitlements of a consumer', 'GET', `/consumers/${idOf('csm', 1)}/entitlements`],
    ['an explanation', 'GET', `/consumers/${idOf('csm', 1)}/entitlements?explain=true`],
    [
      'a check of configs',
      'POST',
      '/billing/entitlements/check',
      { consumers: [idOf('csm', 1)], features: ['f102', 'f105', 'f108'] },
    ],
    ['a token', 'POST', `/consumers/${idOf('csm', 1)}/entitlements/token`, {}],
    ['a preview', 'POST', `/billing/plans/${idOf('pln', 1)}/preview`, { features: {} }],
  ])('read the plans that the consumers have, and no others: %s', async (_, method, path, json) => {
    await insertConsumers(1)
    const { bindings, count } = measuredD1()
    const { status, text } = await world.ask(method, path, { bindings, ...(json && { json }) })
    expect(status, text).toBeLessThan(300)
    // One plan whole, and the names of the others and of the features, in two reads.
    expect(count.bytes).toBeLessThan(2 * PLAN + MAX_PLANS * 500 + MAX_FEATURES * 500)
  })

  it('answer as for a small one', async () => {
    await insertConsumers(1)
    await grantPlans(3)
    const { features } = await world.one(idOf('csm', 1))
    expect(Object.values(features).filter(({ allowed }) => allowed)).toHaveLength(100)
    expect(features.f102).toMatchObject({ allowed: true, value: `3${'0'.repeat(2020)}`, reason: 'grant' })
    const { body } = await world.check([idOf('csm', 1)], ['f102', 'f1', 'f3'])
    for (const key of ['f102', 'f1']) expect(body.data[0]?.features[key]).toEqual(features[key])
  })

  it('show a config with the source that counts, and refuse explanations that are too long', async () => {
    await insertConsumers(1)
    await grantPlans(10)
    const { features } = await world.one(idOf('csm', 1), '?explain=true')
    const sources = features.f102?.sources ?? []
    expect(sources.map(({ counted }) => counted).filter(Boolean)).toHaveLength(1)
    for (const { counted, value } of sources) expect(value).toBe(counted ? features.f102?.value : null)
    expect(features.f1?.sources?.map(({ value }) => value)).toEqual(Array(11).fill(true))
    await STORE.prepare("DELETE FROM grants WHERE project_id = ? AND id LIKE 'grt_9%'").bind(world.project).run()
    await grantPlans(100)
    const { status, body } = await world.ask<{ code: string }>(
      'GET',
      `/consumers/${idOf('csm', 1)}/entitlements?explain=true`,
    )
    expect([status, body.code]).toEqual([413, 'payload_too_large'])
    const ofOne = await world.one(idOf('csm', 1), '?explain=true&feature=f102')
    expect([Object.keys(ofOne.features), ofOne.features.f102?.sources?.length]).toEqual([['f102'], 101])
    expect((await world.one(idOf('csm', 1))).features.f1?.allowed).toBe(true)
    expect(MAX_EXPLANATION_BYTES).toBeLessThanOrEqual(MAX_CATALOG_BYTES)
  })

  it('wait for room while they are sent', async () => {
    await insertConsumers(100)
    const consumers = Array.from({ length: 100 }, (_, n) => idOf('csm', n + 1))
    const configs = ['f102', 'f105', 'f108', 'f111', 'f114', 'f117']
    const large = { consumers, features: configs }
    expect(await firstPiece('/billing/entitlements/check', large)).toBe(ANSWER_CHUNK)
    const path = `/consumers/${idOf('csm', 1)}/entitlements`
    await STORE.prepare('UPDATE plans SET features = ? WHERE project_id = ? AND id = ?')
      .bind('{"f1":{"value":true,"per_seat":false}}', world.project, idOf('pln', 1))
      .run()
    expect(await firstPiece(path)).toBeLessThan(MAX_SMALL_BYTES)
    await grantPlans(100)
    expect(await firstPiece(`${path}?explain=true`.replace(idOf('csm', 1), idOf('csm', 2)))).toBeLessThan(
      ANSWER_CHUNK + 1,
    )
  })
})

describe('what all plans of a project give', () => {
  it('is limited: a plan that would give more than before is refused, and any other change is not', async () => {
    const { id, features } = (await world.catalog.get(idOf('pln', 1))).body
    await STORE.prepare('DELETE FROM plans WHERE project_id = ? AND rank = 100').bind(world.project).run()
    const small = await world.catalog.plan({ key: 'small', name: 'Small' })
    expect([small.status, (small.body as { code?: string }).code]).toEqual([409, 'catalog_limit_reached'])
    const { f102, ...less } = features
    const same = { ...features, f102: { ...f102, value: `2${String(f102?.value).slice(1)}` } }
    expect(JSON.stringify(same)).toHaveLength(JSON.stringify(features).length)
    expect((await world.catalog.change(id, { features: same })).status).toBe(200)
    expect((await world.catalog.change(id, { features: less, name: 'Less' })).status).toBe(200)
    const again = await world.catalog.change(id, { features })
    expect([again.status, (again.body as { code?: string }).code]).toEqual([409, 'catalog_limit_reached'])
    expect(again.text).toContain(MAX_CATALOG_BYTES.toLocaleString('en'))
    expect((await world.catalog.get(id)).body).toMatchObject({ name: 'Less', features: less, revision: 3 })
    expect((await world.catalog.change(id, { features: { f1: { value: true } }, rank: 3 })).status).toBe(200)
    // With fewer plans of that size, there is room for one more byte at a time.
    await STORE.prepare("UPDATE plans SET features = '{}' WHERE project_id = ? AND rank > 10").bind(world.project).run()
    expect((await world.catalog.change(id, { features })).status).toBe(200)
    expect((await world.catalog.plan({ key: 'small', name: 'Small' })).status).toBe(201)
  })

  it('is as long as the limit, and no byte longer', async () => {
    const ofBytes = (n: number) => {
      const empty = { f3: { value: '', per_seat: false } }
      return { f3: { value: 'x'.repeat(n - JSON.stringify(empty).length), per_seat: false } }
    }
    await STORE.prepare(
      `UPDATE plans SET features = iif(rank = 2, '{"f3":"' || substr(hex(zeroblob(?2)), 1, ?2 - 9) || '"}', '{}') WHERE project_id = ?1`,
    )
      .bind(world.project, MAX_CATALOG_BYTES - 2 * (MAX_PLANS - 2) - 1_000)
      .run()
    const status = async (n: number) => (await world.catalog.change(idOf('pln', 1), { features: ofBytes(n) })).status
    expect(await status(1_001)).toBe(409)
    expect(await status(1_000)).toBe(200)
    expect(await status(999)).toBe(200)
  })
})

describe('subscriptions with as many items as one call looks at', () => {
  it('are read without the ids that a check does not show, however long a vendor makes them', async () => {
    await insertConsumers(1)
    const [each, most] = [MAX_SUBSCRIPTION_ITEMS_KEPT, MAX_SUBSCRIPTION_ITEMS]
    const long = (name: string) => `'${name}', hex(zeroblob(${MAX_KEPT_WORD_BYTES / 2 - 1}))`
    await STORE.batch(
      [
        `INSERT INTO customer_links (project_id, customer, vendor, pinned) VALUES (?1, 'cus_1', 'stripe', '${idOf('csm', 1)}')`,
        `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
          ${NUMBERS(most / each)} SELECT ?1, 'subscription', 'sub_' || v, 'stripe', 'cus_1', 'active', 1, json_array(json_object(
            'event_id', 'evt', 'body', json_object('livemode', json('true'), 'items', (${NUMBERS(each)} SELECT
              json_group_array(json_object(${long('price')}, ${long('variant')}, ${long('product')}, 'quantity', 1)) FROM n)))) FROM n`,
      ].map((sql) => STORE.prepare(sql).bind(world.project)),
    )
    const { bindings, count } = measuredD1()
    expect((await world.check([idOf('csm', 1)], ['f1'], { bindings })).status).toBe(200)
    // Of each item: its subscription's id, its quantity, and what it is mapped to.
    expect(count.bytes).toBeGreaterThan(most * 100)
    expect(count.bytes).toBeLessThan(most * 600)
    // One more is too many.
    await STORE.prepare(
      `UPDATE billing_objects SET candidates = json_insert(candidates, '$[0].body.items[#]', json('{"quantity":1}')) WHERE vendor_id = 'sub_1' AND project_id = ?`,
    )
      .bind(world.project)
      .run()
    expect((await world.check([idOf('csm', 1)], ['f1'])).status).toBe(413)
  })
})

describe('revisions of plans', () => {
  it('are kept within a number of bytes, the newest ones, and an earlier time then is not known', async () => {
    await world.consumers.put('ada')
    await insertConsumers(1)
    const time = 1_780_000_000_000
    const size = 60_000
    const kept = Math.floor(MAX_REVISION_BYTES / size)
    await STORE.prepare(
      `INSERT INTO plan_revisions (project_id, plan_id, revision, document, until)
        ${NUMBERS(kept + 50)} SELECT ?1, printf('pln_%026d', v % 2 + 1), v, json_object('key', 'p', 'rank', 1, 'features', json('{}'),
          'prices', json('[]'), 'pad', hex(zeroblob(${size / 2 - 35}))), ${time} + v * 1000 FROM n`,
    )
      .bind(world.project)
      .run()
    await STORE.prepare(
      "UPDATE plans SET revision = 500, updated_at = ?2, features = '{}' WHERE project_id = ?1 AND rank <= 2",
    )
      .bind(world.project, time + HOUR)
      .run()
    stopClock(time + 2 * HOUR)
    // What another project keeps is no part of it.
    await STORE.prepare(
      `INSERT INTO plan_revisions (project_id, plan_id, revision, document, until)
        ${NUMBERS(50)} SELECT 'prj_other', 'pln_other', v, hex(zeroblob(${size / 2})), ${time + HOUR} FROM n`,
    ).run()
    expect((await world.catalog.change(idOf('pln', 3), { features: {} })).status).toBe(200)
    const { results } = await STORE.prepare(
      'SELECT plan_id, until, octet_length(document) AS bytes FROM plan_revisions WHERE project_id = ? ORDER BY until',
    )
      .bind(world.project)
      .all<{ plan_id: string; until: number; bytes: number }>()
    expect(results.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(MAX_REVISION_BYTES)
    expect(results.length).toBeGreaterThan(kept - 10)
    expect(results.at(-1)).toMatchObject({ plan_id: idOf('pln', 3), until: time + 2 * HOUR })
    expect(results[0]?.until).toBeGreaterThan(time + 40_000)
    const at = async (ms: number) => (await world.one('ext:ada', `?at=${iso(ms)}`)).missing
    expect(await at(time + 1_000)).toEqual(
      expect.arrayContaining(['The plan p1 has since changed, and its revision from that time is no longer stored.']),
    )
    // None of its revisions is left.
    await STORE.prepare('DELETE FROM plan_revisions WHERE project_id = ? AND plan_id = ?')
      .bind(world.project, idOf('pln', 2))
      .run()
    expect(await at(time + 70_000)).toEqual(
      expect.arrayContaining(['The plan p2 has since changed, and its revision from that time is no longer stored.']),
    )
    expect(MAX_SMALL_PLAN).toBeLessThan(size)
  })
})
