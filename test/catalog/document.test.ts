import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_GRANTS_WALKED } from '../../src/catalog/limits'
import { insertConsumer } from '../consumers/rows'
import { insertEarlierGrants, insertGrants } from '../entitlements/rows'
import { type Answer, call, countingD1, freshKey, tamperedD1 } from '../harness'
import { misfits } from '../harness/json-schema'
import { rows } from '../inbox/pipeline'
import { catalogAs } from './catalog'

type Catalog = {
  features: Record<string, Record<string, unknown>>
  plans: Record<string, Record<string, unknown> & { prices: object[] }>
}

let project: string
let secret: string
let owner: string
let api: ReturnType<typeof catalogAs>
beforeEach(async () => {
  const made = await freshKey()
  project = made.project
  secret = made.secret
  owner = made.owner.token
  api = catalogAs(project, secret)
})

const price = (ref: string, more = {}) => ({ vendor: 'stripe', ref, ...more })
const SOLD: Catalog = {
  features: {
    sso: { name: 'SSO', type: 'boolean' },
    seats: { name: 'Seats', type: 'quantity', combine: 'sum' },
    limits: { name: 'Limits', type: 'config' },
    unused: { name: 'Unused', type: 'boolean' },
  },
  plans: {
    pro: {
      name: 'Pro',
      rank: 10,
      features: { sso: { value: true }, seats: { value: 5, per_seat: true }, limits: { value: { b: 1, a: '😀"\\' } } },
      prices: [price('price_once', { lasts: 'P1Y', again: 'beside' }), price('price_pro')],
    },
    free: { name: 'Free', features: { seats: { value: 1 } }, prices: [] },
  },
}
/** The catalog of the tests, changed. */
const sold = (change: (catalog: Catalog) => unknown) => {
  const copy = structuredClone(SOLD)
  change(copy)
  return copy
}
const problem = ({ status, body }: Answer<unknown>) => {
  const { code, errors = [] } = body as { code?: string; errors?: { pointer: string }[] }
  return [status, code, ...errors.map(({ pointer }) => pointer)]
}
/** So many entries that are wrong. */
const junk = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`A${i}`, 0]))
const addJunk = (all: object, n: number) => Object.assign(all, junk(n))
const setting = (settings: object) =>
  call(`/platform/v1/projects/${project}`, { method: 'PATCH', project, token: owner, json: { settings } })
const ifMatch = (etag: string | null) => ({ headers: { 'If-Match': etag ?? '' } })
const planId = async (key: string) => (await api.plans()).body.data.find((plan) => plan.key === key)?.id ?? ''

/** All that a project has stored of its catalog, without ids and times. */
async function storedIn(id: string) {
  const [plans, refs, features, revisions, log, told] = await Promise.all([
    rows('SELECT key, name, rank, state, features, revision FROM plans WHERE project_id = ? ORDER BY key', id),
    rows(
      `SELECT p.key, r.vendor, r.ref, r.lasts, r.again FROM plan_refs r JOIN plans p ON p.project_id = r.project_id AND p.id = r.plan_id
       WHERE r.project_id = ? ORDER BY r.ref`,
      id,
    ),
    rows('SELECT key, name, type, combine FROM features WHERE project_id = ? ORDER BY key', id),
    rows('SELECT revision, document FROM plan_revisions WHERE project_id = ? ORDER BY document', id),
    rows(
      `SELECT action, object_type, iif(object_type = 'plan', '', object_id) AS object, actor_type,
       iif(action = 'plan.updated' OR action = 'feature.updated', '', details) AS details
       FROM audit_log WHERE project_id = ? AND object_type IN ('feature', 'plan') ORDER BY action, object, details`,
      id,
    ),
    rows(
      `SELECT j.value ->> 'type' AS type FROM changes, json_each(items) j
       WHERE project_id = ? AND j.value ->> 'type' GLOB '[fp][el]a*' ORDER BY type`,
      id,
    ),
  ])
  return { plans, refs, features, revisions, log, told }
}

describe('a document', () => {
  it('is read as it was written, and writes nothing the second time', async () => {
    const put = await api.put(SOLD)
    expect(put.body.writes).toEqual({
      features: { created: Object.keys(SOLD.features), updated: [], deleted: [] },
      plans: { created: ['pro', 'free'], updated: [] },
      settings: [],
    })
    const read = await api.whole()
    const { version, ...document } = read.body
    expect([read.headers.get('ETag'), put.headers.get('ETag'), put.body.version]).toEqual([
      `"${version}"`,
      `"${version}"`,
      version,
    ])
    expect(document).toMatchObject(SOLD)
    const before = await storedIn(project)
    for (const again of [document, SOLD]) {
      const { status, body } = await api.put(again, ifMatch(read.headers.get('ETag')))
      const plans = { created: [], updated: [] }
      const none = { features: { ...plans, deleted: [] }, plans, settings: [] }
      expect([status, body]).toEqual([200, { version, writes: none }])
    }
    expect(await storedIn(project)).toEqual(before)
  })

  it('makes the key of entitlement tokens with the first plan', async () => {
    await api.put(SOLD)
    expect(
      await rows("SELECT 1 FROM entitlement_keys WHERE project_id = ? AND state = 'current'", project),
    ).toHaveLength(1)
  })

  type Single = (calls: ReturnType<typeof catalogAs>, plan: (key: string) => Promise<string>) => Promise<unknown>
  const CHANGES: [string, (catalog: Catalog) => unknown, Single][] = [
    [
      'a name',
      (c) => Object.assign(c.plans.pro ?? {}, { name: 'P' }),
      async (a, id) => a.change(await id('pro'), { name: 'P' }),
    ],
    [
      'features, and a state',
      (c) => Object.assign(c.plans.pro ?? {}, { features: { seats: { value: 'unlimited' } }, state: 'archived' }),
      async (a, id) => a.change(await id('pro'), { features: { seats: { value: 'unlimited' } }, state: 'archived' }),
    ],
    [
      'prices',
      (c) =>
        Object.assign(c.plans.pro ?? {}, { prices: [price('price_once', { lasts: 'forever' }), price('price_new')] }),
      async (a, id) =>
        a.change(await id('pro'), { prices: [price('price_once', { lasts: 'forever' }), price('price_new')] }),
    ],
    [
      'a feature, and how it is combined',
      (c) => Object.assign(c.features, { seats: { name: 'Places', type: 'quantity' } }),
      (a) => a.feature('seats', { name: 'Places', type: 'quantity', combine: 'max' }),
    ],
    ['a feature that goes', (c) => delete c.features.unused, (a) => a.dropFeature('unused')],
    [
      'a plan that comes, with a feature',
      (c) => {
        c.features.new = { name: 'New', type: 'boolean' }
        c.plans.team = { name: 'Team', features: { new: { value: true } }, prices: [price('price_team')] }
      },
      async (a) => {
        await a.feature('new', { name: 'New', type: 'boolean' })
        await a.plan({ key: 'team', name: 'Team', features: { new: { value: true } }, prices: [price('price_team')] })
      },
    ],
  ]
  it.each(CHANGES)('leaves what the single calls leave: %s', async (_, change, single) => {
    const other = await freshKey()
    const calls = catalogAs(other.project, other.secret)
    await Promise.all([api.put(SOLD), calls.put(SOLD)])
    const put = await api.put(sold(change))
    expect(put.status, put.text).toBe(200)
    const ids = (await calls.plans()).body.data
    await single(calls, async (key) => ids.find((plan) => plan.key === key)?.id ?? '')
    expect(await storedIn(project)).toEqual(await storedIn(other.project))
  })

  it('moves a price from one plan to another', async () => {
    await api.put(SOLD)
    const moved = sold(({ plans }) => plans.free?.prices.push(plans.pro?.prices.shift() ?? {}))
    expect((await api.put(moved)).body.writes.plans.updated).toEqual(['pro', 'free'])
    expect((await api.whole()).body).toMatchObject(moved)
  })

  it('takes the same id of two vendors as two prices', async () => {
    const both = sold(({ plans }) => plans.free?.prices.push({ vendor: 'paddle', ref: 'price_pro' }))
    expect(problem(await api.put(both))).toEqual([200, undefined])
    expect((await api.whole()).body).toMatchObject(both)
  })

  it('adds and removes as many prices as there can be, with ids as long as there can be', async () => {
    const priced = (of: (plan: number) => object[]): Catalog => ({
      features: {},
      plans: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, { name: 'P', prices: of(n) }])),
    })
    const all = priced((n) => Array.from({ length: 50 }, (_, i) => price(`price_${n}_${i}_`.padEnd(200, 'x'))))
    expect((await api.put(all)).status).toBe(200)
    expect((await api.previewWhole(all)).body.writes).toEqual((await api.put(all)).body.writes)
    const none = priced(() => [])
    expect((await api.previewWhole(none)).status).toBe(200)
    expect((await api.put(none)).body.writes.plans.updated).toHaveLength(100)
  })
})

describe('a document is refused, and nothing is written', () => {
  const CASES: [string, (catalog: Catalog) => unknown, unknown[], (() => Promise<unknown>)?][] = [
    ['a plan left out', ({ plans }) => delete plans.free, [422, 'validation_failed', '/plans/free']],
    [
      'a feature left out that a plan gives',
      ({ features }) => delete features.sso,
      [422, 'validation_failed', '/plans/pro/features/sso'],
    ],
    [
      'values that do not fit, all at once',
      ({ plans }) => Object.assign(plans.pro ?? {}, { features: { sso: { value: 1 }, seats: { value: -1 } } }),
      [422, 'validation_failed', '/plans/pro/features/seats/value', '/plans/pro/features/sso/value'],
    ],
    [
      'a price of two plans',
      ({ plans }) => plans.free?.prices.push(price('price_pro')),
      [422, 'validation_failed', '/plans/free/prices'],
    ],
    [
      'another type',
      ({ features }) => Object.assign(features.sso ?? {}, { type: 'config' }),
      [409, 'feature_type_fixed'],
    ],
    [
      'an unknown field',
      ({ plans }) => Object.assign(plans.pro ?? {}, { id: 'pln_1' }),
      [422, 'validation_failed', '/plans/pro/id'],
    ],
    [
      'a feature that a grant includes',
      ({ features }) => delete features.unused,
      [409, 'feature_in_use'],
      async () => {
        await insertGrants(project, await insertConsumer(project, 'ada'))
        await rows("UPDATE grants SET feature = 'unused' WHERE project_id = ?", project)
      },
    ],
    [
      'the feature of devices_feature',
      ({ features, plans }) => {
        delete features.seats
        for (const plan of Object.values(plans)) plan.features = {}
      },
      [409, 'feature_in_use'],
      () => setting({ devices_feature: 'seats' }),
    ],
    [
      'the default plan archived',
      ({ plans }) => Object.assign(plans.free ?? {}, { state: 'archived' }),
      [409, 'plan_is_default'],
      async () => setting({ default_plan: await planId('free') }),
    ],
    [
      '100,000 features, none of them one',
      ({ features }) => addJunk(features, 100_000),
      [422, 'validation_failed', '/features'],
    ],
    ['101 plans', ({ plans }) => addJunk(plans, 99), [422, 'validation_failed', '/plans']],
    [
      'too many features and prices of a plan',
      ({ plans }) => {
        plans['a/b'] = { features: junk(101), prices: Array(51).fill(0) }
      },
      [422, 'validation_failed', '/plans/a~1b/features', '/plans/a~1b/prices'],
    ],
    [
      'a config that is wide',
      ({ plans }) => Object.assign(plans.pro ?? {}, { features: { limits: { value: Array(500_000).fill(0) } } }),
      [422, 'validation_failed', '/plans/pro/features/limits/value'],
    ],
    [
      'too many bytes of features',
      ({ features, plans }) => {
        const given = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, { value: 'x'.repeat(2000) }]))
        for (const key of Object.keys(given)) features[key] = { name: key, type: 'config' }
        for (let n = 0; n < 6; n++) plans[`p${n}`] = { name: 'P', features: given, prices: [] }
      },
      [409, 'catalog_limit_reached'],
    ],
  ]
  it.each(CASES)('%s', async (_, change, refusal, first) => {
    await api.put(SOLD)
    await first?.()
    const before = await storedIn(project)
    expect(problem(await api.put(sold(change)))).toEqual(refusal)
    expect(await storedIn(project)).toEqual(before)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['there is another plan', () => api.plan({ key: 'other', name: 'Other' })],
    ['the default plan is another one', async () => setting({ default_plan: await planId('free') })],
  ])('412: %s since the ETag', async (_, other) => {
    const { headers } = await api.put(SOLD)
    await other()
    const before = await storedIn(project)
    for (const document of [SOLD, sold(({ plans }) => Object.assign(plans.pro ?? {}, { name: 'Mine' }))]) {
      expect(problem(await api.put(document, ifMatch(headers.get('ETag'))))).toEqual([412, 'precondition_failed'])
    }
    expect(await storedIn(project)).toEqual(before)
  })

  /** Another value of all that a document says and that can change. */
  const OTHERS = {
    features: { name: 'Other', combine: 'max' },
    plans: { name: 'Other', rank: 7, state: 'archived', features: {}, prices: [] },
  }
  it.each(Object.entries(OTHERS))(
    '412: anything that it says of %s has changed since the ETag',
    async (kind, others) => {
      const one = ({ features, plans }: Pick<Catalog, 'features'> & { plans: object }) =>
        Object.entries(kind === 'plans' ? plans : features).find(([key]) => key === 'seats' || key === 'pro')?.[1]
      await api.put(SOLD)
      const { type: _, ...shown } = one((await api.whole()).body)
      expect(Object.keys(others).sort()).toEqual(Object.keys(shown).sort())
      for (const [name, value] of Object.entries(others)) {
        const { headers } = await api.put(SOLD)
        const changed = await api.put(sold((all) => Object.assign(one(all), { [name]: value })))
        const late = await api.put(SOLD, ifMatch(headers.get('ETag')))
        expect([name, changed.status, ...problem(late)]).toEqual([name, 200, 412, 'precondition_failed'])
      }
    },
  )

  it('a grant behind thousands of others includes a feature that would go', async () => {
    await api.put(SOLD)
    const consumer = await insertConsumer(project, 'ada')
    await insertEarlierGrants(project, consumer, MAX_GRANTS_WALKED)
    const last = await insertGrants(project, consumer)
    await rows("UPDATE grants SET feature = 'unused' WHERE id = ?", last)
    const without = sold(({ features }) => delete features.unused)
    expect(problem(await api.put(without))).toEqual([409, 'feature_in_use'])
    await rows('UPDATE grants SET revoked_at = 1 WHERE id = ?', last)
    expect((await api.put(without)).body.writes.features.deleted).toEqual(['unused'])
  })
})

it('its schema is public, for editors', async () => {
  const { headers, body, status } = await call('/catalog.schema.json')
  expect([status, headers.get('Cache-Control')]).toEqual([200, 'public, max-age=300'])
  const again = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } }
  expect((await call('/catalog.schema.json', again)).status).toBe(304)
  const file = { $schema: 'https://example.com/catalog.schema.json', versions: { [project]: 'a' }, ...SOLD }
  expect(misfits(body, body, file)).toEqual([])
  const wrong = sold(({ plans }) => Object.assign(plans.pro ?? {}, { rank: 'high', state: 'gone', id: 'pln_1' }))
  expect(misfits(body, body, wrong)).toHaveLength(3)
})

describe('at the same time', () => {
  it('as another document with the same ETag: one is written', async () => {
    const { headers } = await api.put(SOLD)
    const named = (name: string) => sold(({ plans }) => Object.assign(plans.pro ?? {}, { name }))
    const put = (name: string) => api.put(named(name), ifMatch(headers.get('ETag')))
    const statuses = (await Promise.all([put('A'), put('B')])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 412])
  })

  it.each([[true], [false]])('as a change between its read and its write, with If-Match: %s', async (matching) => {
    const { headers } = await api.put(SOLD)
    const id = await planId('free')
    let meddled = false
    const DB = tamperedD1(async ({ sql, run }) => {
      if (!meddled && /INSERT INTO "audit_log"/i.test(sql)) {
        meddled = true
        await api.change(id, { rank: 7 })
      }
      return run()
    })
    const mine = sold(({ plans }) => Object.assign(plans.pro ?? {}, { name: 'Mine' }))
    const answer = await api.put(mine, { bindings: { DB }, ...(matching && ifMatch(headers.get('ETag'))) })
    expect(meddled).toBe(true)
    const { plans } = (await api.whole()).body
    // Without the header, the document is written after the other change, over it.
    expect([answer.status, plans.pro?.name, plans.free?.rank]).toEqual(matching ? [412, 'Pro', 7] : [200, 'Mine', 0])
  })
})

it('100 plans, each with 100 of 200 features: a few round trips, whatever changes', async () => {
  const keys = Array.from({ length: 200 }, (_, n) => `feature_${n}`)
  const large = (value: number) => ({
    features: Object.fromEntries(keys.map((key) => [key, { name: key, type: 'quantity' }])),
    plans: Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => {
        const given = keys.slice(n, n + 100).map((key) => [key, { value: value + n, per_seat: true }])
        const prices = Array.from({ length: 20 }, (_, i) => price(`price_${n}_${10 + i}`))
        return [`plan_${n}`, { name: `Plan ${n}`, features: Object.fromEntries(given), prices }]
      }),
    ),
  })
  for (const [value, created, updated] of [
    [1, 100, 0],
    [2, 0, 100],
    [2, 0, 0],
  ] as const) {
    const { DB, count } = countingD1()
    const { status, body, text } = await api.put(large(value), { bindings: { DB } })
    expect(status, text.slice(0, 300)).toBe(200)
    expect([body.writes.plans.created.length, body.writes.plans.updated.length]).toEqual([created, updated])
    expect(count.trips).toBeLessThanOrEqual(5)
    expect(count.statements).toBeLessThanOrEqual(25)
  }
  expect((await api.whole()).body).toMatchObject(large(2))
})
