import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, SECOND } from '../../src/lib/time'
import { type Fields, stripeEventOf } from '../billing/payloads'
import { stripeCharge, stripeDispute, stripeRefund, stripeSession } from '../billing/purchases/payloads'
import { setClock, stopClock } from '../clock'
import { type EntitlementWorld, entitlementWorld } from './world'

/* What one-time purchases give: for how long, one after the other or beside, and what a refund or a dispute takes back. */

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (day: number) => START / 1000 + day * 86_400
const iso = (day: number) => new Date(START + day * DAY).toISOString()

let world: EntitlementWorld
beforeEach(async () => {
  stopClock(START)
  world = await entitlementWorld()
  await Promise.all([
    world.catalog.feature('sso'),
    world.catalog.feature('seats', { name: 'Seats', type: 'quantity' }),
    world.catalog.feature('credits', { name: 'Credits', type: 'quantity', combine: 'sum' }),
  ])
  const features = { sso: { value: true }, seats: { value: 1, per_seat: true }, credits: { value: 100 } }
  const price = (ref: string, lasting: object) => ({ vendor: 'stripe', ref, ...lasting })
  const plan = (key: string, prices: object[]) => world.catalog.plan({ key, name: key, features, prices })
  await plan('life', [price('price_life', { lasts: 'forever' })])
  await plan('month', [price('price_30', { lasts: 'P30D' }), price('price_beside', { lasts: 'P30D', again: 'beside' })])
  await plan('nothing', [price('price_without', {})])
  await world.consumers.put('ada')
})

const live = (type: string, object: Fields, day: number, previous?: Fields) => ({
  ...stripeEventOf(type, object, { at: at(day), ...(previous && { previous }) }),
  livemode: true,
})
const sold = (id: string, price_id: string, day: number, quantity = '1', more: Fields = {}) =>
  live(
    'checkout.session.completed',
    stripeSession({
      ...{ payment_intent: id, created: at(day), customer: 'cus_ada' },
      metadata: { price_id, quantity, consumer_external_id: 'ada' },
      ...more,
    }),
    day,
  )
const refunded = (id: string, day: number, more: Fields = {}, type = 'refund.created') =>
  live(type, stripeRefund(id, { id: `re_${id}`, amount: 4900, created: at(day), ...more }), day)
const disputed = (id: string, day: number, status: string, more: Fields = {}) =>
  live('charge.dispute.updated', stripeDispute(id, { id: `dp_${id}`, status, ...more }), day, { status: 'x' })

/** What Ada may do on a day, as each feature's value, and the reason and the end of `sso`. */
async function on(day: number, query = '') {
  setClock(START + day * DAY)
  const { features } = await world.one('ext:ada', query)
  const { sso, seats, credits } = features as Record<
    string,
    { value: unknown; reason: string; valid_until: string | null }
  >
  return [sso?.value, seats?.value, credits?.value, sso?.reason, sso?.valid_until]
}
const NOT = (reason: string) => [false, 0, 0, reason, null]

describe('a purchase', () => {
  it('gives its plan for as long as the mapping says, and nothing where it says nothing', async () => {
    expect(await on(0)).toEqual(NOT('no_subscription'))
    await world.deliver(sold('pi_none', 'price_without', 0))
    expect(await on(1)).toEqual(NOT('no_subscription'))
    await world.deliver(sold('pi_1', 'price_30', 1, '3'))
    expect(await on(1)).toEqual([true, 3, 100, 'plan', iso(31)])
    expect(await on(31)).toEqual(NOT('expired'))
    await world.deliver(sold('pi_life', 'price_life', 40))
    expect(await on(900)).toEqual([true, 1, 100, 'plan', null])
  })

  it('bought again follows the first one, or runs beside it', async () => {
    await world.deliver(sold('pi_2', 'price_30', 10), sold('pi_1', 'price_30', 0))
    expect(await on(11)).toEqual([true, 1, 100, 'plan', iso(30)])
    expect(await on(30)).toEqual([true, 1, 100, 'plan', iso(60)])
    expect(await on(60)).toEqual(NOT('expired'))
    await world.deliver(sold('pi_3', 'price_beside', 60), sold('pi_4', 'price_beside', 70, '4'))
    expect(await on(71)).toEqual([true, 4, 200, 'plan', iso(90)])
    expect(await on(95)).toEqual([true, 4, 100, 'plan', iso(100)])
  })

  /** What becomes of the first of two that follow each other, and the day on which the second one begins then. */
  const FATES: [fate: string, events: object[], begins: number, first: string | null][] = [
    ['was kept', [], 30, null],
    ['was returned', [refunded('pi_1', 12)], 10, 'Refunded in full by refund re_pi_1.'],
    ['was returned in part', [refunded('pi_1', 12, { amount: 900 })], 30, null],
    ['is disputed', [disputed('pi_1', 12, 'needs_response')], 30, 'The dispute dp_pi_1 is open.'],
    ['was disputed in vain', [disputed('pi_1', 12, 'needs_response'), disputed('pi_1', 13, 'won')], 30, null],
    [
      'was charged back',
      [disputed('pi_1', 12, 'needs_response'), disputed('pi_1', 13, 'lost')],
      10,
      'The dispute dp_pi_1 is lost.',
    ],
    [
      'was charged back, and is disputed once more',
      [disputed('pi_1', 12, 'lost'), disputed('pi_1', 13, 'needs_response', { id: 'dp_more', created: at(13) })],
      10,
      'The dispute dp_pi_1 is lost.',
    ],
  ]
  it.each(FATES)('that %s moves the next one up if it was taken back for good', async (_, events, begins, first) => {
    await world.deliver(sold('pi_1', 'price_30', 0), sold('pi_2', 'price_30', 10), ...events)
    setClock(START + 14 * DAY)
    const { sources = [] } = (await world.one('ext:ada', '?explain=true')).features.sso ?? {}
    const shown = sources.map(({ id, from, until, why_not }) => [id, from, until, why_not])
    expect(shown).toEqual([
      ['pi_1', iso(0), iso(30), first],
      ['pi_2', iso(begins), iso(begins + 30), begins > 14 ? expect.any(String) : null],
    ])
  })

  it('that was returned gives nothing once the next one has ended, either', async () => {
    await world.deliver(sold('pi_1', 'price_30', 0), sold('pi_2', 'price_30', 10), refunded('pi_1', 12))
    expect(await on(13)).toEqual([true, 1, 100, 'plan', iso(40)])
    expect(await on(40)).toEqual(NOT('refunded'))
  })

  it('that waits for its turn ends a token which says what is allowed before', async () => {
    await world.deliver(sold('pi_1', 'price_30', 0), sold('pi_2', 'price_30', 10))
    await world.deliver(disputed('pi_1', 12, 'needs_response'))
    setClock(START + 30 * DAY - 30 * SECOND)
    const { status, body } = await world.ask<{ expires_at: string }>('POST', '/consumers/ext:ada/entitlements/token', {
      json: { ttl_s: 600 },
    })
    expect([status, body.expires_at]).toEqual([201, iso(30)])
  })

  it('of a plan that adds nothing to a sum does not say until when the sum is valid', async () => {
    const prices = [{ vendor: 'stripe', ref: 'price_zero', lasts: 'P5D' }]
    await world.catalog.plan({ key: 'zero', name: 'zero', features: { credits: { value: 0 } }, prices })
    await world.deliver(sold('pi_1', 'price_30', 0), sold('pi_2', 'price_zero', 0))
    setClock(START + DAY)
    const { credits } = (await world.one('ext:ada', '?explain=true')).features
    expect(credits).toMatchObject({ value: 100, valid_until: iso(30) })
    expect(credits?.sources?.map(({ id, counted }) => [id, counted])).toEqual([
      ['pi_1', true],
      ['pi_2', false],
    ])
  })

  it('in test mode gives nothing, unless that counts; one that was not paid neither', async () => {
    await world.deliver({ ...sold('pi_1', 'price_life', 0), livemode: false })
    expect(await on(0)).toEqual(NOT('test_mode'))
    expect((await world.settings({ test_mode_counts: true })).status).toBe(200)
    expect(await on(1)).toEqual([true, 1, 100, 'plan', null])
    await world.deliver(
      { ...refunded('pi_1', 2), livemode: false },
      sold('pi_2', 'price_life', 2, '1', { payment_status: 'unpaid' }),
    )
    expect(await on(3)).toEqual(NOT('refunded'))
  })

  it('in test mode delays no other one, unless it counts', async () => {
    await world.deliver({ ...sold('pi_1', 'price_30', 0), livemode: false }, sold('pi_2', 'price_30', 10))
    expect(await on(11)).toEqual([true, 1, 100, 'plan', iso(40)])
    expect(await on(40)).toEqual(NOT('expired'))
    setClock(START)
    expect((await world.settings({ test_mode_counts: true })).status).toBe(200)
    expect(await on(41)).toEqual([true, 1, 100, 'plan', iso(60)])
  })
})

type Rule = [rule: string, events: object[], kept: unknown[], ended: string]
const GIVEN = [true, 1, 100, 'plan', null]
const RULES: Rule[] = [
  ['refunded_part', [refunded('pi_1', 2, { amount: 900 })], GIVEN, 'refunded'],
  ['refunded_whole', [refunded('pi_1', 2)], GIVEN, 'refunded'],
  ['dispute_open', [disputed('pi_1', 2, 'needs_response')], GIVEN, 'disputed'],
  ['dispute_lost', [disputed('pi_1', 2, 'needs_response'), disputed('pi_1', 3, 'lost')], GIVEN, 'disputed'],
]

describe.each(RULES)('the rule %s', (rule, events, kept, reason) => {
  it.each(['keep', rule === 'dispute_open' ? 'suspend' : 'end'])('%s, in any order of events', async (value) => {
    expect((await world.settings({ purchase_rules: { dispute_open: 'keep', [rule]: value } })).status).toBe(200)
    const all = [sold('pi_1', 'price_life', 0), ...events]
    await world.deliver(...(value === 'keep' ? all : all.toReversed()))
    expect(await on(4)).toEqual(value === 'keep' ? kept : NOT(reason))
    // A check says the same.
    const [checked] = (await world.check(['ext:ada'], ['sso'])).body.data
    expect(checked?.features.sso).toMatchObject({
      allowed: value === 'keep',
      reason: value === 'keep' ? 'plan' : reason,
    })
  })
})

it('explains by which event a purchase gives nothing, and what gives nothing anyway', async () => {
  const [, refund] = await world.deliver(
    sold('pi_1', 'price_life', 0),
    refunded('pi_1', 2),
    sold('pi_2', 'price_without', 3),
    sold('pi_3', 'price_nobody_has', 3),
    live('checkout.session.completed', stripeSession({ payment_intent: 'pi_4', customer: 'cus_ada' }), 3),
  )
  setClock(START + 4 * DAY)
  const { features } = await world.one('ext:ada', '?explain=true')
  const sources = features.sso?.sources ?? []
  expect(sources.map(({ id, counted, why_not }) => [id, counted, why_not])).toEqual([
    ['pi_1', false, 'Refunded in full by refund re_pi_1.'],
    ['pi_2', false, 'The plan does not say how long a one-time payment of price_without lasts.'],
    ['pi_3', false, 'price_nobody_has is not mapped to a plan.'],
    ['pi_4', false, 'No event says what was bought.'],
  ])
  expect(sources[0]).toMatchObject({
    type: 'purchase',
    vendor: 'stripe',
    plan: 'life',
    price: 'price_life',
    event_id: refund,
  })
  // What only the charge counts has no refund of its own.
  await world.deliver(
    sold('pi_5', 'price_life', 5),
    live('charge.refunded', stripeCharge('pi_5', { amount_refunded: 4900 }), 6),
  )
  const after = (await world.one('ext:ada', '?explain=true')).features.sso?.sources ?? []
  expect(after.find(({ id }) => id === 'pi_5')?.why_not).toBe('Refunded in full.')
})

it('explains an earlier time by the newest event of then, whichever came last', async () => {
  setClock(START + 2 * DAY)
  const [part] = await world.deliver(refunded('pi_1', 2, { id: 're_part', amount: 900 }))
  setClock(START + 3 * DAY)
  await world.deliver(sold('pi_1', 'price_life', 0))
  setClock(START + 8 * DAY)
  const [rest] = await world.deliver(refunded('pi_1', 8, { amount: 4000 }))
  const eventAt = async (query: string) =>
    (await world.one('ext:ada', `?explain=true${query}`)).features.sso?.sources?.[0]?.event_id
  expect([await eventAt(''), await eventAt(`&at=${iso(4)}`)]).toEqual([rest, part])
})

it('a preview says who gains and who loses by a mapping that lasts', async () => {
  await world.deliver(sold('pi_1', 'price_without', 0))
  setClock(START + DAY)
  const plans = (await world.catalog.plans()).body.data
  // Until then, no price of the project lasts, so a check reads no purchases.
  for (const { id } of plans) await world.catalog.change(id, { prices: [] })
  const plan = plans.find(({ key }) => key === 'nothing')
  await world.catalog.change(plan?.id ?? '', { prices: [{ vendor: 'stripe', ref: 'price_without' }] })
  const preview = (prices: object[]) =>
    world.ask<{ gains: object; losses: object; affected: number }>('POST', `/billing/plans/${plan?.id}/preview`, {
      json: { prices },
    })
  const lasting = [{ vendor: 'stripe', ref: 'price_without', lasts: 'P1Y' }]
  expect((await preview(lasting)).body).toMatchObject({
    affected: 1,
    gains: { sso: 1, seats: 1, credits: 1 },
    losses: {},
  })
  const patched = await world.ask('PATCH', `/billing/plans/${plan?.id}`, { json: { prices: lasting } })
  expect([patched.status, patched.body]).toMatchObject([200, { prices: [{ ...lasting[0], again: null }], revision: 4 }])
  expect(await on(1)).toEqual([true, 1, 100, 'plan', '2027-01-01T00:00:00.000Z'])
  expect((await preview([{ vendor: 'stripe', ref: 'price_without' }])).body).toMatchObject({
    affected: 1,
    losses: { sso: 1 },
  })
  expect((await preview(lasting)).body).toMatchObject({ affected: 0 })
  // The same again changes nothing.
  const again = await world.ask('PATCH', `/billing/plans/${plan?.id}`, { json: { prices: lasting } })
  expect(again.body).toMatchObject({ revision: 4 })
})

it.each([
  [{ lasts: 'P0D' }],
  [{ lasts: 'P1W' }],
  [{ lasts: 'ever' }],
  [{ lasts: 'P12345D' }],
  [{ again: 'beside' }],
  [{ lasts: 'P1D', again: 'never' }],
])('refuses a mapping with %o', async (lasting) => {
  const json = { key: 'odd', name: 'Odd', features: {}, prices: [{ vendor: 'stripe', ref: 'price_odd', ...lasting }] }
  expect((await world.ask('POST', '/billing/plans', { json })).status).toBe(422)
})
