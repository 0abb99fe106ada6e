import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_PREVIEWED } from '../../src/entitlements/limits'
import { DAY } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { stopClock } from '../clock'
import { countingD1, STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { type EntitlementWorld, entitlementWorld, sellPlans } from './world'

const FEATURES = ['sso', 'seats', 'projects', 'limits']
const PEOPLE = ['starter', 'pro', 'both', 'product', 'granted', 'later', 'denied', 'blocked', 'canceled', 'none']

let world: EntitlementWorld
let now: number
const plans: Record<string, string> = {}
beforeEach(async () => {
  now = stopClock(Math.floor(Date.now() / 1000) * 1000)
  world = await entitlementWorld()
  await sellPlans(world)
  for (const { key, id } of (await world.catalog.plans()).body.data) plans[key] = id
})

function subscription(id: string, prices: string[], customer = id, status = 'active') {
  const period = { current_period_start: now / 1000, current_period_end: (now + 30 * DAY) / 1000 }
  const items = prices.map((price, n) =>
    stripeItem({ id: `si_${n}`, price: { id: price, product: 'prod_x' }, quantity: 2, ...period }),
  )
  const made = stripeSubscription({
    ...{ id: `sub_${id}`, customer: `cus_${customer}`, status, metadata: { consumer_external_id: customer } },
    items: { object: 'list', data: items, has_more: false },
  })
  return { ...stripeEventOf('customer.subscription.updated', made, { at: now / 1000 }), livemode: true }
}

const price = (...refs: string[]) => refs.map((ref) => ({ vendor: 'stripe', ref }))
const PRO = { sso: { value: true }, seats: { value: 1, per_seat: true }, limits: { value: { rows: 1000 } } }

/** Changes of a plan, one after the other. `first`: what other plan must give up a price before. */
const CHANGES: [what: string, plan: string, change: object, first?: [plan: string, change: object]][] = [
  ['a name', 'pro', { name: 'Pro 2' }],
  ['more seats, and no projects', 'pro', { features: { ...PRO, seats: { value: 4, per_seat: true } } }],
  ['another config', 'pro', { features: { ...PRO, limits: { value: { rows: 1 } } } }],
  ['a rank', 'pro', { rank: 10 }],
  ['the rank of another plan', 'starter', { rank: 10 }],
  ['a key that now is the second of two of one rank', 'pro', { key: 'zz-second' }],
  ['a lower rank', 'pro', { rank: 0 }],
  ['a price from nothing', 'pro', { prices: price('price_pro', 'price_none') }],
  ['a price to nothing', 'starter', { prices: [] }],
  ['a product', 'starter', { prices: price('prod_x') }],
  ['a price that its product gives to another plan', 'pro', { prices: price('price_pro') }],
  ['a price from another plan', 'starter', { prices: price('prod_x', 'price_pro') }, ['pro', { prices: [] }]],
  ['nothing left', 'starter', { features: {}, prices: [] }],
]

describe('a preview', () => {
  it('says what the change then does, to everybody', async () => {
    for (const person of PEOPLE) await world.consumers.put(person)
    await world.deliver(
      subscription('starter', ['price_starter']),
      subscription('pro', ['price_pro']),
      subscription('both', ['price_starter', 'price_pro']),
      subscription('again', ['price_pro', 'price_none'], 'both'),
      subscription('product', ['price_none']),
      subscription('denied', ['price_pro']),
      subscription('blocked', ['price_pro']),
      subscription('canceled', ['price_pro'], 'canceled', 'canceled'),
      subscription('nobody', ['price_pro']),
    )
    const grants = [
      { consumer: 'ext:granted', plan: 'pro' },
      { consumer: 'ext:granted', plan: 'pro' },
      { consumer: 'ext:starter', plan: 'pro' },
      { consumer: 'ext:later', plan: 'pro', starts_at: new Date(now + DAY).toISOString() },
      { consumer: 'ext:denied', feature: 'sso', effect: 'deny' },
    ]
    for (const grant of grants) expect((await world.grant(grant)).status).toBe(201)
    await world.consumers.block('ext:blocked')
    const answers = async () =>
      (
        await world.check(
          PEOPLE.map((one) => `ext:${one}`),
          FEATURES,
        )
      ).body.data
    let any = 0
    for (const [what, plan, change, first] of CHANGES) {
      const before = await answers()
      const { status, body, text } = await world.catalog.preview(plans[plan] ?? '', change)
      expect([status, body.has_more], text).toEqual([200, false])
      if (first) await world.catalog.change(plans[first[0]] ?? '', first[1])
      expect((await world.catalog.change(plans[plan] ?? '', change)).status, what).toBe(200)
      const after = await answers()
      const differences = before.flatMap(({ consumer_id, features }, n) =>
        FEATURES.map((feature) => {
          const to = after[n]?.features[feature]
          return { consumer: consumer_id, feature, from: features[feature]?.value, to: to?.value }
        }).filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to)),
      )
      any += differences.length
      const plain = body.changes.map(({ vendor: _, customer: __, ...one }) => one)
      expect(sorted(plain), what).toEqual(sorted(differences))
      expect(body.affected, what).toBe(new Set(differences.map(({ consumer }) => consumer)).size)
      const amount = (value: unknown) =>
        value === 'unlimited' ? 1e99 : typeof value === 'object' ? Number(value !== null) : Number(value)
      const counts = (sign: number) =>
        FEATURES.map((key) => [
          key,
          differences.filter(
            ({ feature, from, to }) => feature === key && Math.sign(amount(to) - amount(from)) === sign,
          ).length,
        ]).filter(([, n]) => n !== 0)
      expect([body.gains, body.losses], what).toEqual([Object.fromEntries(counts(1)), Object.fromEntries(counts(-1))])
      const kept = differences.filter(({ from, to }) => amount(to) < amount(from) && amount(to) > 0)
      const reductions = Object.values(body.reductions).reduce((sum, n) => sum + n, 0)
      expect(reductions, what).toBe(kept.filter(({ to }) => typeof to !== 'object').length)
    }
    expect(any).toBeGreaterThan(30)
  })

  it('names the customer by which the consumer has the plan, and counts what it examined', async () => {
    for (const person of ['pro', 'granted']) await world.consumers.put(person)
    await world.deliver(subscription('pro', ['price_pro']), subscription('starter', ['price_starter']))
    await world.grant({ consumer: 'ext:granted', plan: 'pro' })
    const { body } = await world.catalog.preview(plans.pro ?? '', { features: {} })
    expect(body).toMatchObject({
      ...{ examined: 3, affected: 2, gains: {}, losses: { sso: 2, seats: 2, projects: 2, limits: 2 }, reductions: {} },
      ...{ has_more: false, next_cursor: null },
    })
    expect(body.changes.filter(({ feature }) => feature === 'projects')).toMatchObject([
      { vendor: 'stripe', customer: 'cus_pro', from: 'unlimited', to: 0 },
      { vendor: null, customer: null, from: 'unlimited', to: 0 },
    ])
  })

  it.each<[what: string, own: [id: string, price: string, status: string][], granted: boolean, named: string | null]>([
    ['an active subscription', [['a', 'price_pro', 'active']], false, 'cus_a'],
    ['an active subscription and a grant', [['a', 'price_pro', 'active']], true, 'cus_a'],
    ['a subscription that is over, and a grant', [['a', 'price_pro', 'canceled']], true, null],
    [
      'a subscription that is over, and an active one',
      [
        ['a', 'price_pro', 'canceled'],
        ['b', 'price_pro', 'active'],
      ],
      false,
      'cus_b',
    ],
    ['a product, while the price is another plan’s', [['a', 'price_starter', 'active']], true, null],
    [
      'a product, while the price is another plan’s, and a price',
      [
        ['a', 'price_starter', 'active'],
        ['b', 'price_pro', 'active'],
      ],
      false,
      'cus_b',
    ],
  ])('names the customer who gives the plan: %s', async (_, own, granted, named) => {
    await world.catalog.change(plans.pro ?? '', { prices: price('price_pro', 'prod_x') })
    await world.consumers.put('ada')
    await world.deliver(...own.map(([id, ref, status]) => subscription(id, [ref], id, status)))
    for (const [id] of own) await world.consumers.pin(`cus_${id}`, 'ext:ada')
    if (granted) await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    const { body } = await world.catalog.preview(plans.pro ?? '', { features: {} })
    expect(body.affected).toBe(1)
    expect(new Set(body.changes.map(({ customer }) => customer))).toEqual(new Set([named]))
    expect(new Set(body.changes.map(({ vendor }) => vendor))).toEqual(new Set([named && 'stripe']))
  })

  it('names the customer who would have the plan', async () => {
    await world.consumers.put('ada')
    await world.deliver(subscription('a', ['price_none'], 'ada'))
    const { body } = await world.catalog.preview(plans.pro ?? '', { prices: price('price_pro', 'price_none') })
    expect(body.changes.map(({ feature, customer }) => [feature, customer])).toContainEqual(['sso', 'cus_ada'])
  })

  it('examines no grant that has ended', async () => {
    await world.consumers.put('ada')
    const { body } = await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    await world.revoke(body.id)
    const expired = await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    await rows('UPDATE grants SET expires_at = 1 WHERE id = ?', expired.body.id)
    await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    const { body: previewed } = await world.catalog.preview(plans.pro ?? '', { features: {} })
    expect(previewed).toMatchObject({ examined: 1, affected: 1 })
  })

  it('refuses what the change would be refused for, but not a price of another plan', async () => {
    const of = (id: string, json: object) => world.catalog.preview(id, json)
    expect((await of('pln_none', { rank: 1 })).status).toBe(404)
    const pro = plans.pro ?? ''
    for (const wrong of [{}, { cursor: 'x' }, { rank: -1 }, { features: { nope: { value: true } } }, { odd: 1 }]) {
      expect((await of(pro, wrong)).status, JSON.stringify(wrong)).toBe(422)
    }
    expect((await of(pro, { features: { sso: { value: 1 } } })).status).toBe(422)
    expect((await of(pro, { rank: 1, cursor: 'x' })).status).toBe(400)
    expect((await of(pro, { prices: price('price_starter') })).status).toBe(200)
  })

  it('walks a large project in several calls, and counts each consumer in one of them', async () => {
    await world.deliver(subscription('model', ['price_pro']))
    await STORE.batch(
      [
        `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
          SELECT ?1, printf('csm_0000000000%016d', v), '{}', 'active', 1, 0, 0 FROM n WHERE v <= 2200`,
        `INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
          SELECT ?1, 'u' || v, printf('csm_0000000000%016d', v), 0, 0 FROM n WHERE v <= 1500`,
        `INSERT INTO customer_links (project_id, customer, vendor, hint, hint_rank)
          SELECT ?1, 'cus_' || v, 'stripe', 'u' || (v % 1500 + 1), '2026 evt' FROM n WHERE v <= 1600`,
        `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
          SELECT ?1, 'subscription', printf('sub_%04d', v), 'stripe', 'cus_' || v, 'active', 1, (SELECT candidates FROM billing_objects
            WHERE project_id = ?1 AND customer = 'cus_model') FROM n`,
        `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
          SELECT ?1, printf('csm_0000000000%016d', v + 1000), 'grt_' || (9999 - v), ?2, 'allow', 'usr' FROM n WHERE v <= 1200`,
      ].map((sql) =>
        STORE.prepare(
          sql.replace(
            /(\))\s+SELECT/,
            '$1 WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5500) SELECT',
          ),
        ).bind(...(sql.includes('?2') ? [world.project, plans.pro] : [world.project])),
      ),
    )
    // One consumer, who has a grant too, has the last subscription of the first call and one of the second.
    await rows(
      "UPDATE customer_links SET pinned = 'csm_00000000000000000000002000' WHERE project_id = ? AND customer IN (?, ?)",
      ...[world.project, `cus_${MAX_PREVIEWED}`, `cus_${MAX_PREVIEWED + 100}`],
    )
    const change = { features: { seats: { value: 9 } } }
    const found: { examined: number; affected: number; gained: number }[] = []
    let cursor: string | null | undefined
    const { DB, count } = countingD1()
    for (let call = 0; call < 20 && cursor !== null; call++) {
      const { body, text } = await world.catalog.preview(
        plans.pro ?? '',
        { ...change, ...(cursor && { cursor }) },
        {
          bindings: { DB },
        },
      )
      expect(body.changes?.length, text.slice(0, 200)).toBeLessThanOrEqual(50)
      found.push({ examined: body.examined, affected: body.affected, gained: body.gains.seats ?? 0 })
      cursor = body.next_cursor
      expect(body.has_more).toBe(cursor !== null)
    }
    const sum = (name: keyof (typeof found)[number]) => found.reduce((total, one) => total + one[name], 0)
    // Of the consumers with a grant, 499 have a subscription too. The ids of grants run against those of consumers.
    expect([sum('examined'), sum('affected'), sum('gained')]).toEqual([5501 + 1200, 2200, 2200])
    expect(found.length).toBeLessThan(10)
    expect([count.rows_written, count.trips]).toEqual([0, 2 * found.length])
  })

  it('leaves out a consumer who has more than one call looks at, and nobody else', async () => {
    for (const person of ['first', 'many', 'zero']) await world.consumers.put(person)
    await world.deliver(
      subscription('first', ['price_pro']),
      subscription('many', ['price_pro']),
      subscription('zero', ['price_pro']),
    )
    await STORE.prepare(
      `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
        SELECT ?1, 'subscription', 'many_' || v, 'stripe', 'cus_many', 'active', 1, '[{}]' FROM n`,
    )
      .bind(world.project)
      .run()
    const names: string[] = []
    let cursor: string | null | undefined
    for (let call = 0; call < 5 && cursor !== null; call++) {
      const { body } = await world.catalog.preview(plans.pro ?? '', { features: {}, ...(cursor && { cursor }) })
      names.push(...body.changes.filter(({ feature }) => feature === 'sso').map(({ customer }) => customer ?? ''))
      cursor = body.next_cursor
    }
    expect([names, cursor]).toEqual([['cus_first', 'cus_zero'], null])
  })

  it('reads few times to find who has too much, and less each time', async () => {
    await world.deliver(subscription('many', ['price_none']))
    const few = 300
    const first = 'csm_00000000000000000000000000'
    await STORE.batch(
      [
        `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
          WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5001)
          SELECT ?1, 'subscription', 'many_' || v, 'stripe', 'cus_many', 'active', 1, '[{}]' FROM n`,
        `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
          WITH RECURSIVE n(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM n WHERE v < ${few})
          SELECT ?1, printf('csm_0000000000%016d', v), '{}', 'active', 1, 0, 0 FROM n`,
        `INSERT INTO customer_links (project_id, customer, vendor, pinned) SELECT ?1, 'cus_many', 'stripe', '${first}'
          WHERE true ON CONFLICT DO UPDATE SET pinned = excluded.pinned`,
        `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
          SELECT ?1, id, 'grt_' || substr(id, 5), '${plans.pro}', 'allow', 'usr' FROM consumers WHERE project_id = ?1`,
      ].map((sql) => STORE.prepare(sql).bind(world.project)),
    )
    let [affected, most] = [0, 0]
    let cursor: string | null | undefined
    while (cursor !== null) {
      const { DB, count } = countingD1()
      const { body } = await world.catalog.preview(
        plans.pro ?? '',
        { features: {}, ...(cursor && { cursor }) },
        { bindings: { DB } },
      )
      affected += body.affected
      most = Math.max(most, count.trips)
      cursor = body.next_cursor
    }
    // One trip walks; then facts are read of 301, 150, 75, 37, 18, 9, 4, 2, one and none of them.
    expect([affected, most]).toEqual([few, 11])
  })
})

const sorted = <T>(list: T[]) => list.map((one) => JSON.stringify(one)).sort()
