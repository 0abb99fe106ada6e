import { beforeAll, describe, expect, it } from 'vitest'
import { DAY, iso, MINUTE } from '../../src/lib/time'
import { type Fields, paddleEventOf, stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { paddleSale, stripeDispute, stripeRefund, stripeSession } from '../billing/purchases/payloads'
import { stopClock } from '../clock'
import { clockedD1, type EntitlementWorld, entitlementWorld } from '../entitlements/world'
import { addMember, countingD1 } from '../harness'
import { visit } from './visit'

/* The page of a purchase: what each item gives, until when, and why nothing; and what came back of the money. */

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (day: number) => START / 1000 + day * 86_400
const live = (type: string, object: Fields, day: number, previous?: Fields) => ({
  ...stripeEventOf(type, object, { at: at(day), ...(previous && { previous }) }),
  livemode: true,
})

let world: EntitlementWorld
let token: string
beforeAll(async () => {
  stopClock(START + 4 * DAY)
  world = await entitlementWorld()
  token = world.owner.token
  await world.catalog.feature('sso')
  const price = (ref: string, lasting: object) => ({ vendor: 'stripe', ref, ...lasting })
  await world.catalog.plan({
    ...{ key: 'pro', name: 'Pro <plan>', features: { sso: { value: true } } },
    prices: [
      price('price_life', { lasts: 'forever' }),
      price('price_30', { lasts: 'P30D' }),
      price('price_1', { lasts: 'P1D' }),
      price('price_beside', { lasts: 'P30D', again: 'beside' }),
      price('price_without', {}),
      { vendor: 'paddle', ref: 'pri_setup', lasts: 'P30D' },
    ],
  })
})

const read = async (path: string, as = token, DB: D1Database = clockedD1()) => {
  const { status, text } = await visit(`/console/p/${world.project}/platform/${path}`, as, { bindings: { DB } })
  expect(status, text.slice(0, 300)).toBe(200)
  return text
}
const wordsIn = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

/** A sale of a case's own customer, who is a consumer of its own. */
const sold = (name: string, price_id: string | null, { day = 1, ...more }: Fields & { day?: number } = {}) =>
  live(
    'checkout.session.completed',
    stripeSession({
      ...{ payment_intent: `pi_${name}`, created: at(day), customer: `cus_${name}` },
      metadata: { ...(price_id !== null && { price_id }), consumer_external_id: name },
      ...more,
    }),
    day,
  )
const refunded = (name: string, more: Fields = {}) =>
  live('refund.created', stripeRefund(`pi_${name}`, { id: `re_${name}`, amount: 4900, created: at(2), ...more }), 2)
const disputed = (name: string, status: string) =>
  live('charge.dispute.updated', stripeDispute(`pi_${name}`, { id: `dp_${name}`, status }), 3, { status: 'x' })
/** A sale of Paddle's with the id of one of Stripe's, to the same consumer, on the first day. */
const twinOf = (name: string) => {
  const whose = { customer_id: `cus_${name}`, custom_data: { consumer_external_id: name }, subscription_id: null }
  return paddleEventOf('transaction.completed', paddleSale({ id: `pi_${name}`, ...whose }))
}
const inTest = (event: object) => ({ ...event, livemode: false })

type Case = [name: string, events: object[], gives: RegExp, settings?: object]
const NEVER = { refunded_part: 'end', refunded_whole: 'keep', dispute_open: 'keep', dispute_lost: 'keep' }
const CASES: Case[] = [
  [
    'month',
    [sold('month', 'price_30')],
    /grants access until 2026-02-01 00:00:00 UTC .*payments last P30D, one after the other/,
  ],
  ['life', [sold('life', 'price_life')], /grants access indefinitely One-time payments last forever\. price/],
  [
    'again',
    [sold('again', 'price_30', { payment_intent: 'pi_first' }), sold('again', 'price_30', { day: 2 })],
    /no access from 2026-02-01 00:00:00 UTC .* until 2026-03-03 00:00:00 UTC .*it follows an earlier/,
  ],
  [
    'twin',
    [twinOf('twin'), sold('twin', 'price_30', { day: 2 })],
    /no access from 2026-01-31 .* until 2026-03-02 .*it follows an earlier/,
  ],
  [
    'beside',
    [sold('beside', 'price_beside', { payment_intent: 'pi_one' }), sold('beside', 'price_beside', { day: 2 })],
    /grants access until 2026-02-02 00:00:00 UTC .*last P30D, overlapping/,
  ],
  ['over', [sold('over', 'price_1')], /no access from 2026-01-02 .* The paid period has ended\./],
  ['unmapped', [sold('unmapped', 'price_none')], /no access price_none is not mapped to a plan\. Add it to a plan/],
  [
    'without',
    [sold('without', 'price_without')],
    /does not say how long a one-time payment of price_without lasts\. Edit/,
  ],
  ['guest', [sold('guest', 'price_life', { customer: null })], /grants access indef/],
  [
    'stranger',
    [sold('stranger', 'price_life', { customer: null, metadata: { price_id: 'price_life' } })],
    /no access from .* The guest who paid is not linked to a consumer\. Link to a consumer/,
  ],
  [
    'unlinked',
    [sold('unlinked', 'price_life', { metadata: { price_id: 'price_life' } })],
    /no access from .* The customer is not linked to a consumer\. Link to a consumer/,
  ],
  [
    'whole',
    [sold('whole', 'price_life'), refunded('whole')],
    /no access Refunded in full by refund re_whole\. See the event/,
  ],
  ['kept', [sold('kept', 'price_life'), refunded('kept')], /grants access indef/, { purchase_rules: NEVER }],
  ['part', [sold('part', 'price_life'), refunded('part', { amount: 900 })], /grants access indef/],
  [
    'ended',
    [sold('ended', 'price_life'), refunded('ended', { amount: 900 })],
    /no access Refunded in part by refund re_ended\. See the event/,
    { purchase_rules: NEVER },
  ],
  [
    'open',
    [sold('open', 'price_life'), disputed('open', 'needs_response')],
    /no access The dispute dp_open is open\. See the event/,
  ],
  [
    'lost',
    [sold('lost', 'price_life'), disputed('lost', 'lost')],
    /no access The dispute dp_lost is lost\. See the event/,
  ],
  [
    'test',
    [inTest(sold('test', 'price_life'))],
    /no access from .* The purchase is in test mode, which grants no access/,
  ],
  ['tested', [inTest(sold('tested', 'price_life'))], /grants access indef/, { test_mode_counts: true }],
  ['pending', [sold('pending', 'price_life', { payment_status: 'unpaid' })], /no access The payment is pending\./],
  ['unnamed', [sold('unnamed', null)], /Items No event says what was bought\. The purchase grants no access\./],
]

describe('a purchase says what it gives', () => {
  it.each(CASES)('%s', async (name, events, gives, settings) => {
    await world.consumers.put(name)
    await world.settings({ purchase_rules: {}, test_mode_counts: false, ...settings })
    await world.deliver(...events)
    const html = await read(`billing/purchases/pi_${name}?vendor=stripe`)
    expect(wordsIn(html)).toMatch(gives)
    // It is what an explanation of the consumer's entitlements says.
    const { features } = await world.one(`ext:${name}`, '?explain=true')
    const source = features.sso?.sources?.find(({ id, vendor }) => id === `pi_${name}` && vendor === 'stripe')
    if (source?.why_not) expect(html.replaceAll('&#39;', "'")).toContain(source.why_not)
    else expect([name, source?.counted ?? false]).toEqual([name, gives.source.startsWith('grants access')])
  })

  it('of a consumer who is blocked, and to whom a link and a plan lead', async () => {
    await world.settings({ purchase_rules: {} })
    const { body } = await world.consumers.put('blocked')
    await world.deliver(sold('blocked', 'price_life'))
    const page = () => read('billing/purchases/pi_blocked?vendor=stripe')
    expect(wordsIn(await page())).toContain('grants access')
    await world.ask('POST', `/consumers/${body.id}/block`, { json: { reason: 'abuse' } })
    const html = await page()
    expect(wordsIn(html)).toContain('The consumer is blocked.')
    expect(html).toMatch(/<a href="[^"]*\/plans\/pln_\w+">Pro &lt;plan&gt;<\/a>/)
    expect(html).toContain(`/consumers/${body.id}"`)
    expect(wordsIn(await read('billing/customers/stripe/cus_blocked'))).toContain(' Pro &lt;plan&gt; ')
  })

  it('of a guest, whom a link leads to', async () => {
    // A guest has the name that the payment has.
    expect(wordsIn(await read('billing/purchases'))).toContain('Jo Williams (guest)')
    const path = /\/customers\/stripe\/guest[^"]*\/consumer/.exec(await read('billing/purchases/pi_stranger'))?.[0]
    expect(await read(`billing${path}`)).toContain('Which consumer is guest:pi_stranger?')
  })

  it('offers a viewer nothing to change', async () => {
    const viewer = (await addMember(world.project, 'viewer')).token
    for (const name of ['unmapped', 'without', 'unlinked', 'stranger']) {
      const html = await read(`billing/purchases/pi_${name}`, viewer)
      expect(html).not.toMatch(/plans\/add|\/edit"|\/consumer"/)
    }
  })

  it('in as many round trips as the page of a subscription', async () => {
    await world.deliver(live('customer.subscription.created', stripeSubscription({ id: 'sub_1' }), 1))
    const tripsOf = async (path: string) => {
      const { DB, count } = countingD1()
      await read(path, token, DB)
      return count.trips
    }
    expect(await tripsOf('billing/purchases/pi_month')).toBe(await tripsOf('billing/subscriptions/sub_1'))
  })
})

/** A subscription of a case's own customer, whose period is over after the third day. */
const ended = (name: string, { id = `sub_${name}`, ...more }: Fields) => {
  const period = { current_period_start: at(0), current_period_end: at(1) }
  const item = stripeItem({ price: { id: 'price_life' }, ...period })
  const whose = { id, customer: `cus_${name}`, metadata: { consumer_external_id: name } }
  const items = { object: 'list', data: [item], has_more: false }
  return live('customer.subscription.updated', stripeSubscription({ ...whose, items, ...more }), 2)
}
const CANCELED = { status: 'canceled', ended_at: at(2) }
/** What the page says of the feature; and of the source, if that is not the same. */
const WHY: [name: string, events: object[], said: string, source?: string][] = [
  [
    'back',
    [sold('back', 'price_life'), refunded('back')],
    'The purchase was refunded',
    'Refunded in full by refund re_back.',
  ],
  ['past', [sold('past', 'price_1')], 'The paid period has ended'],
  ['gone', [ended('gone', CANCELED)], 'The subscription was canceled and ended on 2026-01-03'],
  ['undated', [ended('undated', { status: 'canceled' })], 'The subscription was canceled'],
  ['stopped', [ended('stopped', { status: 'paused' })], 'The subscription is paused'],
  [
    'never',
    [ended('never', { status: 'incomplete_expired' })],
    'The first payment of the subscription was not made in time',
  ],
  ['until', [ended('until', { cancel_at: at(3) })], 'The subscription has ended'],
  ['unrenewed', [ended('unrenewed', {})], 'The billing period has ended, and no event has renewed the subscription'],
  ['given', [], 'The grant has expired'],
  [
    'twice',
    [ended('twice', CANCELED), ended('twice', { ...CANCELED, id: 'sub_other' })],
    'The subscription was canceled and ended on 2026-01-03',
  ],
  [
    'several',
    [sold('several', 'price_1'), ended('several', CANCELED)],
    'Nothing that includes it is still active',
    'The subscription was canceled and ended on 2026-01-03.',
  ],
]
it.each(WHY)(
  'the pages and the API say in the same words what took the access of %s',
  async (name, events, said, source = `${said}.`) => {
    await world.settings({ purchase_rules: {} })
    await world.consumers.put(name)
    await world.deliver(...events)
    if (name === 'given')
      await world.grant({ consumer: 'ext:given', feature: 'sso', expires_at: iso(START + 4 * DAY + MINUTE) })
    stopClock(START + 4 * DAY + 2 * MINUTE)
    const { features } = await world.one(`ext:${name}`, '?explain=true')
    expect(features.sso?.sources?.map(({ why_not }) => why_not)).toContain(source)
    const inSource = `No access: ${source[0]?.toLowerCase()}${source.slice(1)}`
    for (const path of ['', '/entitlements', `/entitlements?at=${iso(START + 4 * DAY + 2 * MINUTE)}`]) {
      const words = wordsIn(await read(`consumers/ext:${name}${path}`))
      expect(words).toContain(` ${said} `)
      expect(words).toContain(` ${inSource} `)
    }
    stopClock(START + 4 * DAY)
  },
)

it('shows refunds and disputes in one table, and what only the vendor’s total has', async () => {
  await world.deliver(
    sold('money', 'price_life', { amount_total: 9000 }),
    live('charge.dispute.created', stripeDispute('pi_money', { id: 'dp_m', created: at(3), amount: 100 }), 3),
    refunded('money', { amount: 900, reason: 'requested_by_customer' }),
    refunded('money', { id: 're_failed', amount: 500, created: at(1), status: 'failed', reason: '<b>' }),
    live('charge.refunded', { ...charged('money'), amount_refunded: 1100 }, 4),
  )
  const html = await read('billing/purchases/pi_money')
  const table = /<section[^>]*aria-label="Refunds and disputes".*?<\/section>/s.exec(html)?.[0] ?? ''
  const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].slice(1).map(([, row]) => wordsIn(row ?? '').trim())
  expect(rows).toEqual([
    expect.stringMatching(/^Refund re_failed 2026-01-02 00:00:00 UTC .*\$5\.00 failed &lt;b&gt; refund\.created$/),
    expect.stringMatching(/^Refund re_money 2026-01-03 .*\$9\.00 succeeded Requested by customer refund\.created$/),
    expect.stringMatching(
      /^Dispute dp_m 2026-01-04 .*\$1\.00 open evidence due .* UTC Fraudulent charge\.dispute\.created$/,
    ),
  ])
  expect(wordsIn(html)).toContain('$2.00 more was refunded according to the vendor')
  expect(table.match(/\/webhooks\/evt_\w+"/g)?.length).toBe(3)
  const timeline = wordsIn(/<section[^>]*aria-label="Timeline".*?<\/section>/s.exec(html)?.[0] ?? '')
  expect(timeline).toMatch(
    /Disputes: Amount \$1\.00, State open, .* Refunds: Amount \$9\.00, Status succeeded, Reason requested by customer/,
  )
  expect(timeline).not.toContain('Items missing')
  // Nothing of it is said twice.
  expect(html).not.toMatch(/<dt>(Refunds|Disputes|Items missing)<\/dt>/)
  expect(wordsIn(await read('billing/purchases/pi_month'))).not.toContain('Refunds and disputes')
})
const charged = (name: string): Fields => ({
  ...{ id: `ch_pi_${name}`, object: 'charge', amount: 9000, created: at(1), currency: 'usd', status: 'succeeded' },
  ...{ customer: `cus_${name}`, payment_intent: `pi_${name}` },
})

it('a consumer’s page shows the last 20 purchases of its customers', async () => {
  const { body } = await world.consumers.put('buyer')
  const names = Array.from({ length: 21 }, (_, n) => `b${String(n).padStart(2, '0')}`)
  const buy = (name: string, n: number) =>
    sold(name, 'price_life', { day: n / 10, customer: 'cus_buyer', metadata: { consumer_external_id: 'buyer' } })
  await world.deliver(...names.map(buy))
  const html = await read(`consumers/${body.id}?tab=billing`)
  const table = /<section[^>]*aria-label="Purchases".*?<\/section>/s.exec(html)?.[0] ?? ''
  expect(
    [...table.matchAll(/class="name" href="[^"]*\/purchases\/pi_(\w+)\?vendor=stripe/g)].map(([, name]) => name),
  ).toEqual(names.slice(1).reverse())
  expect(html).toContain(`billing/purchases?consumer=${body.id}">All purchases`)
  // The page of one of them reads each of the others once, with the mapping of its item.
  const rowsOf = async (name: string) => {
    const { DB, count } = countingD1()
    await read(`billing/purchases/pi_${name}`, token, DB)
    return count.rows_read
  }
  expect((await rowsOf('b20')) - (await rowsOf('month'))).toBeLessThanOrEqual(20 * 5)
})
