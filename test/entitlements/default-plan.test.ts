import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, SECOND } from '../../src/lib/time'
import { type Fields, stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { stripeRefund, stripeSession } from '../billing/purchases/payloads'
import { advance, setClock, stopClock } from '../clock'
import { call, countingD1, freshProject } from '../harness'
import { rows } from '../inbox/pipeline'
import { told } from '../members/members'
import { type TokenWorld, tokenWorld } from './tokens'
import { clocked } from './world'

/* The setting `default_plan`: what consumers have whom no subscription, purchase or grant gives a plan. */

let world: TokenWorld
let start: number
let free: string
const plans: Record<string, string> = {}
beforeEach(async () => {
  start = stopClock(Math.floor(Date.now() / SECOND) * SECOND)
  world = await tokenWorld()
  const features = { seats: { value: 2, per_seat: true }, projects: { value: 1 }, limits: { value: { rows: 10 } } }
  free = (await world.catalog.plan({ key: 'free', name: 'Free', rank: 50, features })).body.id
  for (const { key, id } of (await world.catalog.plans()).body.data) plans[key] = id
})

const set = (default_plan: unknown) => world.settings({ default_plan })
const setFree = async () => expect((await set(free)).body.settings.default_plan).toBe(free)

/** Tells of a subscription of ada's to a price, with 5 seats, which ends with its period of 30 days. */
async function subscribes(price: string, more: object = {}, event: object = {}) {
  const at = Date.now() / SECOND
  const period = { current_period_start: at, current_period_end: at + (30 * DAY) / SECOND }
  const item = stripeItem({ price: { id: price, product: 'prod_x' }, quantity: 5, ...period })
  const made = stripeSubscription({
    ...{ id: `sub_${price}`, customer: 'cus_ada', status: 'active', metadata: { consumer_external_id: 'ada' } },
    ...{ cancel_at: period.current_period_end, items: { object: 'list', data: [item], has_more: false } },
    ...more,
  })
  await world.deliver({ ...stripeEventOf('customer.subscription.updated', made, { at }), livemode: true, ...event })
}
const grants = async (grant: object) => (await world.grant({ consumer: 'ext:ada', ...grant })).body.id

/** What ada may do, as `key value reason` of each feature that is allowed, or why nothing is. */
async function has(query = '') {
  const { features } = await world.one('ext:ada', query)
  const all = Object.entries(features)
  const allowed = all.filter(([, { allowed }]) => allowed)
  const value = (of: unknown) => (typeof of === 'object' ? (of as { rows: number }).rows : of)
  return allowed.map(([key, one]) => `${key} ${value(one.value)} ${one.reason}`).join(', ')
}

const FREE = 'limits 10 default, projects 1 default, seats 2 default'
const STARTER = 'limits 100 plan, projects 3 plan, seats 5 plan'
const PRO = 'limits 1000 plan, projects unlimited plan, seats 5 plan, sso true plan'

describe('the default plan', () => {
  it.each<[what: string, does: () => Promise<unknown>, expected: string]>([
    ['nothing at all', async () => undefined, FREE],
    ['a subscription', () => subscribes('price_starter'), STARTER],
    ['a subscription whose price no plan has', () => subscribes('price_other'), FREE],
    ['a subscription that is over', () => subscribes('price_pro', { status: 'canceled' }), FREE],
    ['a subscription that is unpaid', () => subscribes('price_pro', { status: 'unpaid' }), FREE],
    ['a subscription in test mode', () => subscribes('price_pro', {}, { livemode: false }), FREE],
    [
      'a subscription in test mode, which counts',
      async () => {
        await world.settings({ test_mode_counts: true })
        await subscribes('price_pro', {}, { livemode: false })
      },
      PRO,
    ],
    ['a granted plan', () => grants({ plan: 'starter' }), STARTER.replaceAll(' plan', ' grant').replace('5', '1')],
    ['a granted plan that begins later', () => grants({ plan: 'pro', starts_at: iso(start + DAY) }), FREE],
    ['the plan itself, granted', () => grants({ plan: 'free' }), FREE.replaceAll('default', 'grant')],
    ['a feature', () => grants({ feature: 'sso' }), `${FREE}, sso true grant`],
    ['less of a quantity', () => grants({ feature: 'seats', value: 1 }), FREE],
    ['more of a quantity', () => grants({ feature: 'seats', value: 9 }), FREE.replace('2 default', '9 grant')],
    [
      'a quantity that is added',
      () => grants({ feature: 'projects', value: 4 }),
      FREE.replace('projects 1', 'projects 5'),
    ],
    ['a config', () => grants({ feature: 'limits', value: { rows: 1 } }), FREE.replace('10 default', '1 grant')],
    ['a denial', () => grants({ feature: 'seats', effect: 'deny' }), 'limits 10 default, projects 1 default'],
    ['a block', () => world.consumers.block('ext:ada'), ''],
  ])('of a consumer with %s', async (_, does, expected) => {
    await setFree()
    await does()
    expect(await has()).toBe(expected)
    const { body } = await world.check(['ext:ada'], ['limits', 'projects', 'seats', 'sso'])
    expect(body.data[0]?.features).toEqual((await world.one('ext:ada')).features)
  })

  it('goes while a purchase gives a plan, until its time is over or it is returned', async () => {
    await setFree()
    const prices = [{ vendor: 'stripe', ref: 'price_month', lasts: 'P30D' }]
    await world.catalog.change(plans.starter ?? '', { prices })
    const sold = stripeSession({
      ...{ payment_intent: 'pi_1', created: start / SECOND, customer: 'cus_ada' },
      metadata: { price_id: 'price_month', consumer_external_id: 'ada' },
    })
    const tell = (type: string, object: Fields) =>
      world.deliver({ ...stripeEventOf(type, object, { at: start / SECOND }), livemode: true })
    await tell('checkout.session.completed', sold)
    const bought = STARTER.replace('5', '1')
    expect([await has(), await has(`?at=${iso(start + 29 * DAY)}`)]).toEqual([bought, bought])
    expect(await has(`?at=${iso(start + 30 * DAY)}`)).toBe(FREE)
    await tell('refund.created', stripeRefund('pi_1', { id: 're_1', amount: 4900, created: start / SECOND }))
    expect(await has()).toBe(FREE)
  })

  it('is nobody’s who is not there, and nobody’s without the setting', async () => {
    await setFree()
    const reasons = async (...consumers: string[]) =>
      (await world.check(consumers, ['seats'])).body.data.map(({ features }) => features.seats?.reason)
    expect(await reasons('ext:nobody', 'ext:ada')).toEqual(['unknown_consumer', 'default'])
    await set(null)
    expect(await reasons('ext:ada')).toEqual(['no_subscription'])
  })

  it('comes when a subscription ends and goes when one begins: at the time, ahead and back', async () => {
    await setFree()
    advance(DAY)
    await subscribes('price_pro')
    await grants({ plan: 'starter', starts_at: iso(start + 40 * DAY), expires_at: iso(start + 50 * DAY) })
    const granted = STARTER.replaceAll(' plan', ' grant').replace('5', '1')
    const days: [day: number, expected: string][] = [
      [2, PRO],
      [30, PRO],
      [31, FREE],
      [39, FREE],
      [40, granted],
      [50, FREE],
      [400, FREE],
    ]
    const at = (day: number) => has(`?at=${iso(start + day * DAY)}`)
    for (const [day, expected] of days) expect([day, await at(day)]).toEqual([day, expected])
    for (const [day, expected] of days.slice(0, -1)) {
      setClock(start + day * DAY + SECOND)
      expect([day, await has()]).toEqual([day, expected])
    }
    expect(await at(0.5)).toBe(FREE)
    expect(await at(35)).toBe(FREE)
    expect((await world.one('ext:ada', `?at=${iso(start + 35 * DAY)}`)).exact).toBe(true)
    expect(await at(5)).toBe(PRO)
  })

  it('of an earlier time is not certain once the setting has changed', async () => {
    await setFree()
    advance(HOUR)
    const then = iso(Date.now())
    advance(HOUR)
    expect(await world.one('ext:ada', `?at=${then}`)).toMatchObject({ exact: true, missing: [] })
    await set(plans.starter)
    const missing = ['The setting default_plan has since been changed.']
    expect(await world.one('ext:ada', `?at=${then}`)).toMatchObject({ exact: false, missing })
  })

  it('is a source of each explanation, with what replaces it', async () => {
    await setFree()
    const source = async (key: string) =>
      (await world.one('ext:ada', '?explain=true')).features[key]?.sources?.filter(({ type }) => type === 'default')
    const own = { type: 'default', id: free, plan: 'free', vendor: null, seats: null, from: null, event_id: null }
    expect(await source('seats')).toMatchObject([{ ...own, value: 2, until: null, counted: true, why_not: null }])
    expect(await source('sso')).toEqual([])
    await grants({ plan: 'pro', starts_at: iso(start + DAY) })
    expect(await source('seats')).toMatchObject([{ until: iso(start + DAY), counted: true }])
    await grants({ feature: 'seats', value: 7 })
    expect(await source('seats')).toMatchObject([{ counted: false, why_not: 'Another source includes more.' }])
    await subscribes('price_starter')
    expect(await source('limits')).toMatchObject([
      {
        ...own,
        counted: false,
        value: null,
        why_not: 'The consumer has a plan from a subscription, purchase or grant.',
      },
    ])
    await world.consumers.block('ext:ada')
    expect(await source('limits')).toMatchObject([{ counted: false }])
  })

  it('is in tokens, which end before another plan begins', async () => {
    await setFree()
    const issued = (await world.issue()).body
    const { payload } = await world.verify(issued.token)
    expect([payload.ent, issued.expires_at]).toEqual([
      { limits: { rows: 10 }, projects: 1, seats: 2 },
      iso(start + 300 * SECOND),
    ])
    await grants({ plan: 'pro', starts_at: iso(start + 60 * SECOND) })
    expect((await world.issue()).body.expires_at).toBe(iso(start + 60 * SECOND))
    const { features } = await world.one('ext:ada')
    expect(features.seats?.valid_until).toBe(iso(start + 60 * SECOND))
  })

  it('changes the ETag when it is set, when its features change, and when it is taken away', async () => {
    const tags: (string | null)[] = []
    const tag = async () => {
      const { headers } = await world.ask('GET', '/consumers/ext:ada/entitlements')
      const again = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } }
      expect((await world.ask('GET', '/consumers/ext:ada/entitlements', again)).status).toBe(304)
      tags.push(headers.get('ETag'))
    }
    await tag()
    await setFree()
    await tag()
    await world.catalog.change(free, { features: { seats: { value: 3 } } })
    await tag()
    await set(plans.starter)
    await tag()
    await set(null)
    await tag()
    expect(tags[4]).toBe(tags[0])
    expect(new Set(tags).size).toBe(4)
  })

  it('says how many devices a consumer can have', async () => {
    await setFree()
    expect((await world.settings({ devices_feature: 'seats' })).status).toBe(200)
    const register = (n: number) =>
      world.ask('PUT', `/consumers/ext:ada/devices/installation-${n}`, { json: { platform: 'ios' } })
    const statuses = []
    for (const n of [1, 2, 3]) statuses.push((await register(n)).status)
    expect(statuses).toEqual([201, 201, 409])
  })
})

describe('the setting default_plan', () => {
  it('takes an active plan of the project, and nothing else', async () => {
    const other = await freshProject()
    const plan = { key: 'theirs', name: 'Theirs' }
    const theirs = (
      await call('/platform/v1/billing/plans', {
        method: 'POST',
        project: other.project,
        token: other.owner.token,
        json: plan,
      })
    ).body.id
    await world.catalog.change(plans.starter ?? '', { state: 'archived' })
    await setFree()
    for (const wrong of [
      theirs,
      plans.starter,
      `${free.slice(0, -1)}${free.endsWith('0') ? 1 : 0}`,
      'free',
      '',
      1,
      [free],
    ]) {
      const refused = await world.settings({ default_plan: wrong, grace_days: 9 })
      expect([wrong, ...told(refused)]).toEqual([wrong, 422, 'validation_failed'])
      expect(refused.body.errors).toMatchObject([{ pointer: '/settings/default_plan' }])
    }
    expect(await has()).toBe(FREE)
    const { settings } = (await call(`/platform/v1/projects/${world.project}`, { token: world.owner.token })).body
    expect(settings).toMatchObject({ default_plan: free, grace_days: 7 })
  })

  it('keeps its plan from being archived', async () => {
    await setFree()
    const { revision } = (await world.catalog.get(free)).body
    for (const change of [{ state: 'archived' }, { state: 'archived', name: 'Old', features: {} }]) {
      const refused = await world.catalog.change(free, change)
      expect(told(refused)).toEqual([409, 'plan_is_default'])
    }
    const stale = await world.catalog.change(free, { state: 'archived' }, { headers: { 'If-Match': '"99"' } })
    expect(stale.status).toBe(412)
    expect((await world.catalog.get(free)).body).toMatchObject({ revision, state: 'active', name: 'Free' })
    expect((await world.catalog.change(free, { name: 'Free 2', state: 'active' })).status).toBe(200)
    expect((await world.catalog.change(plans.pro ?? '', { state: 'archived' })).status).toBe(200)
    await set(plans.starter)
    expect((await world.catalog.change(free, { state: 'archived' })).status).toBe(200)
  })

  it('costs a check no trip, also if the plan is large', async () => {
    const cost = async (features: string[]) => {
      const { DB, count } = countingD1()
      const { status, body } = await world.check(['ext:ada'], features, { bindings: { DB: clocked(DB) } })
      expect(status).toBe(200)
      return [body.data[0]?.features, count.trips, count.rows_written]
    }
    const [, before] = await cost(['seats', 'limits'])
    await setFree()
    const [answers, trips, written] = await cost(['seats', 'limits'])
    expect(answers).toMatchObject({ seats: { value: 2 }, limits: { value: { rows: 10 } } })
    expect([trips, written]).toEqual([before, 0])
    // A plan of more than 4 KiB is read by itself.
    const keys = ['a', 'b', 'c']
    const value = { text: 'x'.repeat(1900) }
    for (const key of keys) await world.catalog.feature(key, { name: key, type: 'config' })
    await world.catalog.change(free, { features: Object.fromEntries(keys.map((key) => [key, { value }])) })
    const [large, more] = await cost(keys)
    expect([large, more]).toMatchObject([{ a: { value }, b: { value }, c: { value } }, Number(before) + 1])
  })
})

describe('a preview', () => {
  it.each<[what: string, plan: string, change: object, affected: string[]]>([
    [
      'of the default plan counts whoever has it',
      'free',
      { features: { seats: { value: 1 } } },
      ['ada', 'over', 'some'],
    ],
    ['of its rank changes nothing', 'free', { rank: 0 }, []],
    ['of another plan counts whoever has that', 'pro', { features: {} }, ['pays']],
    ['of a price that goes says that the default plan comes', 'pro', { prices: [] }, ['pays']],
    [
      'of a price that comes says that the default plan goes',
      'pro',
      { prices: ['price_pro', 'price_other'].map((ref) => ({ vendor: 'stripe', ref })) },
      ['some'],
    ],
    [
      'of a price for the default plan itself',
      'free',
      { prices: ['price_other'].map((ref) => ({ vendor: 'stripe', ref })) },
      ['some'],
    ],
  ])('%s', async (_, key, change, affected) => {
    await setFree()
    const people = ['ada', 'pays', 'over', 'some', 'given', 'blocked']
    for (const person of people.slice(1)) await world.consumers.put(person)
    const of = (person: string) => ({
      id: `sub_${person}`,
      customer: `cus_${person}`,
      metadata: { consumer_external_id: person },
    })
    await subscribes('price_pro', of('pays'))
    await subscribes('price_pro', { ...of('over'), status: 'canceled' })
    await subscribes('price_other', of('some'))
    await world.grant({ consumer: 'ext:given', plan: 'starter' })
    const expired = (await world.grant({ consumer: 'ext:over', plan: 'free' })).body.id
    await rows('UPDATE grants SET expires_at = 1 WHERE id = ?', expired)
    await world.consumers.block('ext:blocked')
    const answers = async () => {
      const { body } = await world.check(
        people.map((one) => `ext:${one}`),
        ['sso', 'seats', 'projects', 'limits'],
      )
      return body.data.map(({ features }) => Object.entries(features).map(([name, { value }]) => [name, value]))
    }
    const before = await answers()
    const { body, text } = await world.catalog.preview(plans[key] ?? '', change)
    expect((await world.catalog.change(plans[key] ?? '', change)).status, text).toBe(200)
    const after = await answers()
    const differing = people.filter((_, n) => JSON.stringify(before[n]) !== JSON.stringify(after[n]))
    expect(differing).toEqual(affected)
    expect([body.affected, body.has_more], text).toEqual([affected.length, false])
    const differences = people.flatMap((_, n) =>
      (before[n] ?? []).filter((one, i) => JSON.stringify(one) !== JSON.stringify(after[n]?.[i])),
    )
    expect(body.changes.length).toBe(differences.length)
  })

  it('walks everybody in parts, and counts each consumer once', async () => {
    await setFree()
    advance(HOUR)
    await rows(
      `INSERT INTO consumers (project_id, id, metadata, state, revision, created_at, updated_at)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1500)
        SELECT ?, printf('csm_0000000000%016d', v), '{}', 'active', 1, 0, 0 FROM n`,
      world.project,
    )
    // Some have it by a grant too, and one has another plan.
    await rows(
      `INSERT INTO grants (project_id, consumer_id, id, plan_id, effect, actor)
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 101)
        SELECT ?, printf('csm_0000000000%016d', v * 10), 'grt_' || v, iif(v > 100, ?, ?), 'allow', 'usr' FROM n`,
      ...[world.project, plans.pro, free],
    )
    const sums = { calls: 0, examined: 0, affected: 0, lost: 0 }
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const change = { features: { seats: { value: 1 } }, ...(cursor && { cursor }) }
      const { body } = await world.catalog.preview(free, change)
      sums.calls += 1
      sums.examined += body.examined
      sums.affected += body.affected
      sums.lost += body.losses.seats ?? 0
      cursor = body.next_cursor
    }
    expect(sums).toEqual({ calls: 2, examined: 1501 + 100, affected: 1500, lost: 1500 })
  })
})
