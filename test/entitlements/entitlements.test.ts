import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { paddleEventOf, paddleSubscription, stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { advance, stopClock } from '../clock'
import { insertMerged } from '../consumers/rows'
import { countingD1, type RequestOptions, STORE } from '../harness'
import { type EntitlementWorld, entitlementWorld, sellPlans } from './world'

let world: EntitlementWorld
let now: number
beforeEach(async () => {
  now = stopClock(Math.floor(Date.now() / 1000) * 1000)
  world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('ada')
})

/** An event of a subscription of Stripe's, whose metadata names a consumer. */
function stripe(price: string, consumer: string, fields: object = {}, { live = true, product = 'prod_x' } = {}) {
  const period = { current_period_start: now / 1000, current_period_end: (now + 30 * DAY) / 1000 }
  const item = stripeItem({ price: { id: price, product }, quantity: 2, ...period })
  const made = stripeSubscription({
    ...{ customer: `cus_${consumer}`, metadata: { consumer_external_id: consumer } },
    items: { object: 'list', data: [item], has_more: false },
    ...fields,
  })
  return { ...stripeEventOf('customer.subscription.updated', made, { at: now / 1000 }), livemode: live }
}

describe('a check', () => {
  it('answers in the order asked, and answers what is unknown', async () => {
    await world.deliver(stripe('price_pro', 'ada'))
    const { body } = await world.consumers.put('grace')
    const [merged = ''] = await insertMerged(world.project, body.id, 1)
    const asked = ['ext:nobody', 'ext:ada', body.id, merged, 'csm_nonsense', '', 'ext:ada'].filter((one) => one !== '')
    const checked = await world.check(asked, ['sso', 'nope'])
    expect(checked.status).toBe(200)
    expect(checked.body.data.map(({ consumer, features }) => [consumer, features.sso?.reason])).toEqual([
      ['ext:nobody', 'unknown_consumer'],
      ['ext:ada', 'plan'],
      [body.id, 'no_subscription'],
      [merged, 'consumer_merged'],
      ['csm_nonsense', 'unknown_consumer'],
      ['ext:ada', 'plan'],
    ])
    expect(checked.body.data[0]).toMatchObject({ consumer_id: null })
    expect(checked.body.data[1]?.features.nope).toEqual({
      ...{ allowed: false, value: null, reason: 'unknown_feature', valid_until: null },
    })
    await world.consumers.block('ext:ada')
    expect((await world.check(['ext:ada'], ['sso'])).body.data[0]?.features.sso?.reason).toBe('consumer_blocked')
  })

  it('refuses an external id without ext:, which would be an unknown consumer for everybody', async () => {
    const { status, text } = await world.check(['ext:ada', 'ada'], ['sso'])
    const message = 'must be the id of a consumer (csm_…), or ext: and your own id'
    expect([status, JSON.parse(text).errors]).toEqual([422, [{ pointer: '/consumers/1', code: 'malformed', message }]])
  })

  it('takes 100 consumers and 20 features, and no more', async () => {
    const names = (n: number) => Array.from({ length: n }, (_, i) => `n${i}`)
    const people = (n: number) => names(n).map((name) => `ext:${name}`)
    expect((await world.check(people(100), names(20))).status).toBe(200)
    expect((await world.check(people(101), ['sso'])).status).toBe(422)
    expect((await world.check(['ext:n'], names(21))).status).toBe(422)
    expect((await world.check([], ['sso'])).status).toBe(422)
  })

  it('joins what all vendors say, by price or product, with pins, and leaves out what is pinned elsewhere', async () => {
    const { catalog, consumers } = world
    const prices = [
      { vendor: 'paddle', ref: 'pro_basic' },
      { vendor: 'stripe', ref: 'prod_addon' },
    ]
    await catalog.plan({ key: 'addon', name: 'Add-on', features: { projects: { value: 5 } }, prices })
    await world.deliver(
      // Its product is of another plan: the price decides.
      stripe('price_starter', 'ada', {}, { product: 'prod_addon' }),
      stripe('price_other', 'ada', {}, { product: 'prod_addon' }),
      paddleEventOf('subscription.updated', {
        ...paddleSubscription({ customer_id: 'ctm_1' }),
        items: [{ price: { id: 'pri_1', product_id: 'pro_basic' }, quantity: 1 }],
        current_billing_period: { starts_at: iso(now), ends_at: iso(now + 30 * DAY) },
      }),
    )
    const projects = async () => (await world.one('ext:ada')).features.projects?.value
    expect(await projects()).toBe(3 + 5)
    await consumers.pin('ctm_1', 'ext:ada', 'paddle')
    expect(await projects()).toBe(3 + 5 + 5)
    await consumers.pin('cus_ada', null)
    expect(await projects()).toBe(5)
    await consumers.unpin('cus_ada')
    await consumers.put('grace')
    await consumers.merge('ext:ada', 'ext:grace')
    expect((await world.one('ext:ada')).features.projects?.value).toBe(13)
  })

  it('tells customers with one id apart, at two vendors and in two projects', async () => {
    const { consumers } = world
    const other = await entitlementWorld()
    await sellPlans(other)
    const prices = [{ vendor: 'paddle', ref: 'pro_basic' }]
    await world.catalog.plan({ key: 'addon', name: 'Add-on', features: { projects: { value: 5 } }, prices })
    await consumers.put('grace')
    await other.consumers.put('eve')
    const paddle = paddleEventOf('subscription.updated', {
      ...paddleSubscription({ customer_id: 'cus_ada', custom_data: { consumer_external_id: 'grace' } }),
      items: [{ price: { id: 'pri_1', product_id: 'pro_basic' }, quantity: 1 }],
      current_billing_period: { starts_at: iso(now), ends_at: iso(now + 30 * DAY) },
    })
    await world.deliver(stripe('price_starter', 'ada'), paddle)
    await other.deliver(stripe('price_pro', 'eve', { customer: 'cus_ada' }))
    const projects = async (who: string, of = world) => (await of.one(`ext:${who}`)).features.projects?.value
    expect([await projects('ada'), await projects('grace'), await projects('eve', other)]).toEqual([3, 5, 'unlimited'])
    const listed = (await consumers.customers('')).body.data.map(({ vendor, external_id }) => [vendor, external_id])
    expect(listed.sort()).toEqual([
      ['paddle', 'grace'],
      ['stripe', 'ada'],
    ])
    for (const [vendor, who] of [
      ['paddle', 'grace'],
      ['stripe', 'ada'],
    ] as const) {
      expect((await consumers.customer('cus_ada', vendor)).body.external_id).toBe(who)
      expect((await consumers.get(`ext:${who}`)).body.customers).toMatchObject([{ vendor, id: 'cus_ada' }])
    }
    expect((await other.consumers.customers('')).body.data).toMatchObject([{ vendor: 'stripe', external_id: 'eve' }])
  })

  it('follows the settings of the project', async () => {
    await world.deliver(stripe('price_pro', 'ada', {}, { live: false }))
    const sso = async () => (await world.one('ext:ada')).features.sso
    expect(await sso()).toMatchObject({ allowed: false, reason: 'test_mode' })
    const settings = { test_mode_counts: true, renewal_slack_hours: 0, grace_days: null }
    expect((await world.settings(settings)).body.settings).toMatchObject(settings)
    expect(await sso()).toMatchObject({ allowed: true, valid_until: iso(now + 30 * DAY) })
    advance(HOUR)
    now += HOUR
    await world.deliver(stripe('price_pro', 'ada', { id: 'sub_2', status: 'past_due' }, { live: false }))
    advance(29 * DAY + 23 * HOUR)
    expect(await sso()).toMatchObject({ allowed: true, valid_until: null })
  })

  it('takes settings within their bounds, and keeps a null', async () => {
    expect((await world.settings({ grace_days: null })).body.settings.grace_days).toBeNull()
    expect((await world.settings({ renewal_slack_hours: 168 })).body.settings).toMatchObject({
      ...{ grace_days: null, renewal_slack_hours: 168, test_mode_counts: false, require_passkey: false },
    })
    expect((await world.settings({ grace_days: 60 })).body.settings.grace_days).toBe(60)
    for (const wrong of [{ grace_days: 61 }, { renewal_slack_hours: 169 }, { renewal_slack_hours: null }]) {
      expect((await world.settings(wrong)).status).toBe(422)
    }
  })

  it('counts grace from the first event of the period, even if that event comes last', async () => {
    const start = now
    const pastDue = (days: number, period = start) => {
      now = start + days * DAY
      const made = stripe('price_pro', 'ada', { id: 'sub_late', status: 'past_due' })
      const item = made.data.object.items as { data: Record<string, unknown>[] }
      Object.assign(item.data[0] ?? {}, { current_period_start: period / 1000, current_period_end: period / 1000 + 1 })
      return made
    }
    const until = async () => (await world.one('ext:ada')).features.sso?.valid_until
    const [latest] = await world.deliver(pastDue(5))
    expect(await until()).toBe(iso(start + (5 + 7) * DAY))
    const [first] = await world.deliver(pastDue(1), pastDue(3), pastDue(-1, start - 30 * DAY))
    expect(await until()).toBe(iso(start + (1 + 7) * DAY))
    expect(await world.effects(first ?? '')).toMatchObject([
      { kind: 'subscription', result: 'superseded', change: null },
      { kind: 'customer_link' },
    ])
    for (const id of [latest, first]) {
      await world.replay(id ?? '')
      await world.queue.pump()
    }
    expect(await until()).toBe(iso(start + (1 + 7) * DAY))
    // A new period begins anew.
    await world.deliver(pastDue(40, start + 30 * DAY))
    expect(await until()).toBe(iso(start + (40 + 7) * DAY))
  })

  it('counts grace from the start of the period, where the first event that is known is of an earlier one', async () => {
    const start = now
    now = start + 5 * DAY
    const made = stripe('price_pro', 'ada', { status: 'past_due' })
    const item = made.data.object.items as { data: Record<string, unknown>[] }
    Object.assign(item.data[0] ?? {}, { current_period_start: start / 1000 })
    await world.deliver(made)
    const until = async () => (await world.one('ext:ada')).features.sso?.valid_until
    expect(await until()).toBe(iso(start + (5 + 7) * DAY))
    await STORE.prepare(
      "UPDATE billing_objects SET past_due_period = '2020-01-01T00:00:00.000000000' WHERE project_id = ?",
    )
      .bind(world.project)
      .run()
    expect(await until()).toBe(iso(start + 7 * DAY))
  })

  it('counts unknown statuses in health', async () => {
    await world.deliver(stripe('price_pro', 'ada', { status: 'frozen' }))
    expect((await world.one('ext:ada')).features.sso?.reason).toBe('unknown_status')
    expect((await world.api('/webhooks/health')).body.unknown_statuses).toBe(1)
  })
})

describe('the entitlements of one consumer', () => {
  it('have an ETag that changes with them and not with time', async () => {
    await world.deliver(stripe('price_pro', 'ada'))
    const get = (headers: Record<string, string> = {}) =>
      world.ask('GET', '/consumers/ext:ada/entitlements', { headers })
    const etag = (await get()).headers.get('ETag') ?? ''
    advance(HOUR)
    for (const sent of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const { status, text, headers } = await get({ 'If-None-Match': sent })
      expect([status, text, headers.get('ETag')]).toEqual([304, '', etag])
    }
    await world.grant({ consumer: 'ext:ada', feature: 'seats', value: 99 })
    const changed = await get({ 'If-None-Match': etag })
    expect([changed.status, changed.headers.get('ETag') === etag]).toEqual([200, false])
  })

  it('are not there for a consumer that is unknown or merged', async () => {
    const { body } = await world.consumers.get('ext:ada')
    const [merged] = await insertMerged(world.project, body.id, 1)
    expect((await world.ask('GET', '/consumers/ext:nobody/entitlements')).status).toBe(404)
    expect((await world.ask('GET', `/consumers/${merged}/entitlements`)).status).toBe(409)
  })

  it('are explained down to the events: what counts, and why the rest does not', async () => {
    const [, pro] = await world.deliver(stripe('price_starter', 'ada'), stripe('price_pro', 'ada', { id: 'sub_pro' }))
    await world.deliver(stripe('price_nowhere', 'ada', { id: 'sub_nowhere' }))
    const { body } = await world.grant({ consumer: 'ext:ada', feature: 'sso', effect: 'deny' })
    const { features, customers } = await world.one('ext:ada', '?explain=true')
    expect(customers).toMatchObject([{ vendor: 'stripe', id: 'cus_ada', linked_by: 'checkout' }])
    const ofPlan = { type: 'subscription', id: 'sub_pro', vendor: 'stripe', plan: 'pro', price: 'price_pro', seats: 2 }
    const unmapped = { id: 'sub_nowhere', counted: false, why_not: 'price_nowhere is not mapped to a plan.' }
    expect(features.sso?.reason).toBe('denied')
    expect(features.sso?.sources).toMatchObject([
      { ...ofPlan, value: true, event_id: pro, counted: false, why_not: 'The feature is denied to the consumer.' },
      { type: 'grant', id: body.id, value: null, counted: true, why_not: null },
      unmapped,
    ])
    const byId = Object.fromEntries((features.projects?.sources ?? []).map((one) => [one.plan ?? one.id, one]))
    expect(byId).toMatchObject({ pro: { counted: true, value: 'unlimited' }, starter: { counted: true, value: 3 } })
    expect(byId.sub_nowhere).toMatchObject(unmapped)
    const limits = features.limits?.sources?.find(({ plan }) => plan === 'starter')
    expect(limits).toMatchObject({ counted: false, why_not: 'Another source includes more.' })
  })

  it.each([
    ['now', 0],
    ['as they will be', HOUR],
    ['as they were', -1],
  ])('are those of the features asked for, as among all of them: %s', async (_, from) => {
    await world.deliver(stripe('price_pro', 'ada'))
    advance(10)
    const more = `&explain=true&at=${new Date(Date.now() + from).toISOString()}`
    const { features: all } = await world.one('ext:ada', `?${more}`)
    const { features } = await world.one('ext:ada', `?feature=seats&feature=nowhere&feature=sso&feature=seats${more}`)
    const nowhere = { allowed: false, value: null, reason: 'unknown_feature', valid_until: null }
    expect(features).toMatchObject({ seats: all.seats, sso: all.sso, nowhere })
    expect([Object.keys(features), features.seats?.allowed]).toEqual([['seats', 'nowhere', 'sso'], true])
  })
})

describe('the cost', () => {
  const cost = async (work: (options: RequestOptions) => Promise<{ status: number; text: string }>) => {
    const { DB, count } = countingD1()
    const { status, text } = await work({ bindings: { DB } })
    expect(status, text.slice(0, 200)).toBeLessThan(300)
    return { trips: count.trips, written: count.rows_written, read: count.rows_read }
  }

  it('is no trip of its own with a known key, and the same rows however many consumers there are', async () => {
    await world.deliver(stripe('price_pro', 'ada'))
    const one = () => cost((o) => world.check(['ext:ada'], ['sso', 'seats'], o))
    const all = () => cost((o) => world.ask('GET', '/consumers/ext:ada/entitlements?explain=true', o))
    await one()
    const few = [await one(), await all()]
    expect(few).toMatchObject([
      { trips: 1, written: 0 },
      { trips: 1, written: 0 },
    ])
    await STORE.batch(
      [
        `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
          SELECT ?1, printf('csm_0000000000%016d', v), '{}', 'active', 1, 0, 0 FROM n`,
        `INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
          SELECT ?1, 'u' || v, printf('csm_0000000000%016d', v), 0, 0 FROM n`,
        `INSERT INTO customer_links (project_id, customer, vendor, hint, hint_rank)
          SELECT ?1, 'cus_' || v, 'stripe', 'u' || v, '2026 evt' FROM n`,
        `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
          SELECT ?1, 'subscription', 'sub_' || v, 'stripe', 'cus_' || v, 'active', 1, (SELECT candidates FROM billing_objects
            WHERE project_id = ?1 AND customer = 'cus_ada') FROM n`,
        `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
          SELECT ?1, printf('csm_0000000000%016d', v), 'grt_' || v, 'seats', 'allow', '7', 'usr' FROM n`,
      ].map((sql) =>
        STORE.prepare(
          sql.replace(
            /(\))\s+SELECT/,
            '$1 WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000) SELECT',
          ),
        ).bind(world.project),
      ),
    )
    for (const [n, { read, ...rest }] of [await one(), await all()].entries()) {
      expect(rest).toEqual({ trips: 1, written: 0 })
      // At the end of an index, there is no next entry to look at.
      expect(read).toBeLessThanOrEqual((few[n]?.read ?? 0) + 3)
    }
    const hundred = Array.from({ length: 100 }, (_, n) => `ext:u${n * 50 + 1}`)
    const checked = await cost((o) => world.check(hundred, ['sso', 'seats', 'projects'], o))
    expect(checked).toMatchObject({ trips: 1, written: 0 })
    // One row for each customer is there because a setting can ask for the customer's invoices.
    expect(checked.read).toBeLessThan(2750)
    const { body } = await world.check(hundred, ['sso', 'seats'])
    expect(body.data.every(({ features }) => features.sso?.allowed && features.seats?.value === 7)).toBe(true)
  })

  it('is a row for each plan, however many features the plans have', async () => {
    await world.deliver(stripe('price_pro', 'ada'))
    const keys = Array.from({ length: 18 }, (_, n) => `more.of-it_${n}`)
    // No feature can have the last name, which must not get into the statement.
    const asked = [...keys, 'sso', `it's a "feature"`]
    const one = () => cost((o) => world.check(['ext:ada'], asked, o))
    const before = await one()
    await Promise.all(keys.map((key) => world.catalog.feature(key)))
    const features = Object.fromEntries(keys.map((key) => [key, { value: true }]))
    const made = [1, 2, 3, 4].map((n) => world.catalog.plan({ key: `wide${n}`, name: 'Wide', rank: n, features }))
    await Promise.all(made)
    await world.grant({ consumer: 'ext:ada', plan: 'wide1' })
    const { body } = await world.check(['ext:ada'], asked)
    const allowed = Object.entries(body.data[0]?.features ?? {}).filter(([, answer]) => answer.allowed)
    expect(allowed.map(([key]) => key).sort()).toEqual([...keys, 'sso'].sort())
    // A row for each plan and each feature that is there now, and the grant.
    expect((await one()).read).toBeLessThanOrEqual(before.read + 4 + 18 + 5)
  })

  it('answers for a consumer with more expired grants than one call looks at', async () => {
    const { body: ada } = await world.consumers.put('ada')
    // The oldest is of another feature: the newest ones of one feature do not hide it.
    await STORE.prepare(
      `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, expires_at, actor)
        WITH RECURSIVE n(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM n WHERE v < 10000)
        SELECT ?1, ?2, printf('grt_%010d', v), iif(v = 0, 'seats', 'sso'), 'allow', iif(v = 0, '7', 'true'), ?3, 'usr' FROM n`,
    )
      .bind(world.project, ada.id, now)
      .run()
    const features = async () => (await world.check(['ext:ada'], ['sso', 'seats'])).body.data[0]?.features
    expect(await features()).toMatchObject({
      sso: { allowed: false, reason: 'expired' },
      seats: { allowed: false, reason: 'expired' },
    })
    await world.grant({ consumer: 'ext:ada', feature: 'sso' })
    expect(await features()).toMatchObject({ sso: { allowed: true, reason: 'grant' } })
  })

  it('is bounded: a call that would need too many subscriptions is refused', async () => {
    await world.deliver(stripe('price_pro', 'ada'))
    await STORE.prepare(
      `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
        SELECT ?1, 'subscription', 'many_' || v, 'stripe', 'cus_ada', 'active', 1, '[{}]' FROM n`,
    )
      .bind(world.project)
      .run()
    const { status, body } = await world.check(['ext:ada'], ['sso'])
    expect([status, (body as { code?: string }).code]).toEqual([413, 'payload_too_large'])
  })

  it('is bounded: a call that would need too many items is refused, before it reads them', async () => {
    const insert = (from: number, to: number) =>
      STORE.prepare(
        `INSERT INTO billing_objects (project_id, kind, vendor_id, vendor, customer, status, version, candidates)
          WITH RECURSIVE n(v) AS (SELECT ?2 UNION ALL SELECT v + 1 FROM n WHERE v < ?3)
          SELECT ?1, 'subscription', 'many_' || v, 'stripe', 'cus_ada', 'active', 1, ?4 FROM n`,
      )
        .bind(
          ...[world.project, from, to],
          JSON.stringify([
            { body: { items: Array.from({ length: 100 }, () => ({ price: 'price_pro', quantity: 1 })) } },
          ]),
        )
        .run()
    await world.consumers.pin('cus_ada', 'ext:ada')
    await insert(1, 100)
    const checked = await world.check(['ext:ada'], ['sso', 'projects'])
    expect(checked.body.data[0]?.features).toMatchObject({ sso: { allowed: true }, projects: { value: 'unlimited' } })
    await insert(101, 4_000)
    const refused = async (options?: RequestOptions) => {
      const { status, body } = await world.check(['ext:ada'], ['sso'], options)
      return [status, (body as { code?: string }).code]
    }
    const { DB, count } = countingD1()
    expect(await refused({ bindings: { DB } })).toEqual([413, 'payload_too_large'])
    // Each item that is read costs the look-ups of its price and its product.
    expect(count.rows_read).toBeLessThan(3 * 4_000 + 3 * 10_000)
  })
})
