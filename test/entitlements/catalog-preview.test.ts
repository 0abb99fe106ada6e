import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_WALKED } from '../../src/entitlements/limits'
import { DAY } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { stopClock } from '../clock'
import { rows } from '../inbox/pipeline'
import { type EntitlementWorld, entitlementWorld, sellPlans } from './world'

const FEATURES = ['sso', 'seats', 'projects', 'limits', 'new']
const PEOPLE = ['starter', 'pro', 'both', 'twice', 'late', 'ended', 'granted', 'counted', 'none']
type Whole = Awaited<ReturnType<EntitlementWorld['catalog']['whole']>>['body']
type Change = (catalog: Whole) => unknown

let world: EntitlementWorld
let now: number
beforeEach(async () => {
  now = stopClock(Math.floor(Date.now() / 1000) * 1000)
  world = await entitlementWorld()
  await sellPlans(world)
  for (const person of PEOPLE) await world.consumers.put(person)
  await world.deliver(
    subscription('starter', ['price_starter']),
    subscription('pro', ['price_pro']),
    subscription('both', ['price_starter', 'price_pro']),
    subscription('twice', ['price_starter', 'price_none']),
    subscription('late', ['price_starter'], 'past_due'),
    subscription('ended', ['price_pro'], 'active', now - DAY),
  )
  for (const grant of [
    { consumer: 'ext:granted', plan: 'pro' },
    { consumer: 'ext:counted', feature: 'projects', value: 2 },
    { consumer: 'ext:counted', feature: 'projects', value: 3 },
  ]) {
    expect((await world.grant(grant)).status).toBe(201)
  }
})

function subscription(customer: string, prices: string[], status = 'active', end = now + 30 * DAY) {
  const period = { current_period_start: (end - 30 * DAY) / 1000, current_period_end: end / 1000 }
  const items = prices.map((price, n) =>
    stripeItem({ id: `si_${n}`, price: { id: price, product: 'prod_x' }, quantity: 2, ...period }),
  )
  const made = stripeSubscription({
    ...{ id: `sub_${customer}`, customer: `cus_${customer}`, metadata: { consumer_external_id: customer } },
    ...{ status, items: { data: items, has_more: false }, ...period },
  })
  return { ...stripeEventOf('customer.subscription.updated', made, { at: now / 1000 }), livemode: true }
}

/** The catalog as it is, changed. */
async function wanted(change: Change) {
  const { version: _, ...catalog } = (await world.catalog.whole()).body
  change(catalog as Whole)
  return catalog
}
const plan = ({ plans }: Whole, key: string) => plans[key] as Whole['plans'][string]
const price = (ref: string) => ({ vendor: 'stripe', ref, lasts: null, again: null })

const FREE = { name: 'Free', rank: 0, state: 'active' as const, prices: [] }

/** Changes of the catalog, one after the other. */
const CHANGES: [what: string, change: Change][] = [
  ['nothing', () => {}],
  ['names', (c) => Object.assign(plan(c, 'pro'), { name: 'Pro 2' })],
  [
    'a default plan that is new',
    (c) => {
      c.plans.free = {
        ...FREE,
        features: {
          seats: { value: 1, per_seat: false },
          sso: { value: true, per_seat: false },
          projects: { value: 4, per_seat: false },
        },
      }
      c.settings.default_plan = 'free'
    },
  ],
  ...(['max', 'sum'] as const).map((combine): [string, Change] => [
    `quantities of the default plan, combined by ${combine}`,
    (c) => Object.assign(c.features.projects ?? {}, { combine }),
  ]),
  [
    'no grace, so that a subscription gives way to the default plan',
    (c) => Object.assign(c.settings, { grace_days: 0 }),
  ],
  [
    'another default plan, in place of the one that is archived',
    (c) => {
      c.settings.default_plan = 'pro'
      plan(c, 'free').state = 'archived'
    },
  ],
  ['less time for a renewal', (c) => Object.assign(c.settings, { renewal_slack_hours: 1, max_devices: 3 })],
  ['no default plan, and grace', (c) => Object.assign(c.settings, { default_plan: null, grace_days: null })],
  [
    'a plan with new prices and a new feature',
    (c) => {
      c.features.new = { name: 'New', type: 'boolean' }
      c.plans.team = {
        ...{ name: 'Team', rank: 20, state: 'active', prices: [price('price_none')] },
        features: {
          sso: { value: true, per_seat: false },
          projects: { value: 9, per_seat: true },
          new: { value: true, per_seat: false },
        },
      }
    },
  ],
  [
    'a price that moves, and what the other plan gives',
    (c) => {
      plan(c, 'starter').prices = []
      plan(c, 'pro').prices.push(price('price_starter'))
      plan(c, 'pro').features.seats = { value: 3, per_seat: true }
    },
  ],
  ['how quantities are combined', (c) => Object.assign(c.features.projects ?? {}, { combine: 'max' })],
  [
    'how they are combined, and what a plan gives',
    (c) => {
      Object.assign(c.features.projects ?? {}, { combine: 'sum' })
      plan(c, 'team').features.projects = { value: 1, per_seat: false }
    },
  ],
  [
    'a price that moves to a new plan',
    (c) => {
      plan(c, 'pro').prices = [price('price_pro')]
      c.plans.basic = { name: 'Basic', rank: 0, state: 'active', features: {}, prices: [price('price_starter')] }
    },
  ],
  [
    'a feature that two plans give, in both',
    (c) => {
      for (const key of ['pro', 'team']) delete plan(c, key).features.sso
    },
  ],
  [
    'a feature that goes',
    (c) => {
      for (const { features } of Object.values(c.plans)) delete features.limits
      delete c.features.limits
    },
  ],
]

describe('a preview of a catalog', () => {
  it('says what the document then does, to everybody', async () => {
    const answers = async () => {
      const { body } = await world.check(
        PEOPLE.map((one) => `ext:${one}`),
        FEATURES,
      )
      return body.data
    }
    let any = 0
    for (const [what, change] of CHANGES) {
      const document = await wanted(change)
      const before = await answers()
      const { status, body, text } = await world.catalog.previewWhole(document)
      expect([status, body.has_more], text).toEqual([200, false])
      const put = await world.catalog.put(document, { headers: { 'If-Match': `"${body.version}"` } })
      expect([put.status, put.body.writes], what).toEqual([200, body.writes])
      const after = await answers()
      const differences = before.flatMap(({ consumer_id, features }, n) =>
        FEATURES.map((feature) => {
          // A check gives no value to a feature that does not exist yet. In a preview, it is off.
          const [from, to] = [features, after[n]?.features].map(
            (all) => all?.[feature]?.value ?? (feature === 'new' ? false : null),
          )
          return { consumer: consumer_id, feature, from, to }
        }).filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to)),
      )
      any += differences.length
      const plain = body.changes.map(({ vendor: _, customer: __, ...one }) => one)
      const sorted = (list: object[]) => list.map((one) => JSON.stringify(one)).sort()
      expect(sorted(plain), what).toEqual(sorted(differences))
      expect(body.affected, what).toBe(new Set(differences.map(({ consumer }) => consumer)).size)
    }
    expect(any).toBeGreaterThan(20)
  })

  it('counts a loss that neither plan alone would be', async () => {
    await world.catalog.plan({
      ...{ key: 'team', name: 'Team', prices: [price('price_none')] },
      features: { sso: { value: true } },
    })
    await world.deliver(subscription('twice', ['price_pro', 'price_none']))
    const document = await wanted((c) => {
      for (const key of ['pro', 'team']) delete plan(c, key).features.sso
    })
    const { body } = await world.catalog.previewWhole(document)
    expect([body.losses, body.affected]).toEqual([{ sso: 5 }, 5])
  })

  it('walks a large project in several calls, and counts each consumer once', async () => {
    await rows(
      `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?)
        SELECT ?, 'csm_0', printf('grt_00%05d', v), 'seats', 'allow', '1', 'usr_none' FROM n`,
      ...[MAX_WALKED, world.project],
    )
    const document = await wanted((c) => delete plan(c, 'pro').features.sso)
    // Settings alone concern no grant, so none is walked.
    const ofSettings = await world.catalog.previewWhole(
      await wanted((c) => Object.assign(c.settings, { grace_days: 0 })),
    )
    expect(ofSettings.body).toMatchObject({ examined: PEOPLE.length, affected: 1, has_more: false })
    let [affected, calls, cursor] = [0, 0, '']
    do {
      const { body, status, text } = await world.catalog.previewWhole(document, cursor && `?cursor=${cursor}`)
      expect(status, text).toBe(200)
      affected += body.affected
      calls += 1
      cursor = body.next_cursor ?? ''
      if (cursor === '') break
      // It belongs to this document, and to the catalog as it is.
      const other = await world.catalog.previewWhole(await wanted(() => {}), `?cursor=${cursor}`)
      expect(other.body).toMatchObject({ code: 'invalid_cursor' })
    } while (cursor)
    expect([affected, calls]).toEqual([4, 2])
  })

  it('walks everybody in several calls for a setting, and counts each consumer once', async () => {
    await rows(
      `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?)
        SELECT ?, printf('csm_0%05d', v), '{}', 'blocked', 1, 1, 1 FROM n`,
      ...[MAX_WALKED, world.project],
    )
    const document = await wanted((c) => Object.assign(c.settings, { grace_days: 0, renewal_slack_hours: 0 }))
    const pages: (readonly [number, number, string[]])[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body, text } = await world.catalog.previewWhole(document, cursor && `?cursor=${cursor}`)
      pages.push([body.examined, body.affected, Object.keys(body.losses)])
      expect(pages.length, text).toBeLessThan(4)
      cursor = body.next_cursor
    }
    expect(pages).toEqual([
      [MAX_WALKED, 0, []],
      [PEOPLE.length, 2, expect.arrayContaining(['seats'])],
    ])
  })
})
