import { hex, hmac, randomHex, utf8 } from '../lib/crypto'
import { DAY, SECOND } from '../lib/time'
import type { Json } from './lib/json'
import { SAMPLE_CUSTOMER, SAMPLE_SEATS, type SampleOf, samplesOf } from './samples'

const CURRENCY = SAMPLE_SEATS.currency.toLowerCase()
const seconds = (ms: number) => Math.floor(ms / SECOND)

const subscribed = (change: (now: number) => Json) => (of: SampleOf) => ({
  ...subscription(of),
  ...change(seconds(of.now)),
})

/** Test events of Stripe, with the fields that we read. */
export const stripeSamples = samplesOf(
  {
    subscription_started: { type: 'customer.subscription.created', object: subscription },
    subscription_past_due: {
      type: 'customer.subscription.updated',
      object: subscribed(() => ({ status: 'past_due' })),
    },
    subscription_ending: {
      type: 'customer.subscription.updated',
      object: subscribed(() => ({ cancel_at_period_end: true })),
    },
    subscription_canceled: {
      type: 'customer.subscription.deleted',
      object: subscribed((now) => ({ status: 'canceled', canceled_at: now, ended_at: now })),
    },
    customer: {
      type: 'customer.created',
      object: ({ seed, since, metadata }) => ({
        ...{ id: `cus_test_${seed}`, object: 'customer', created: seconds(since), livemode: false, metadata },
        ...SAMPLE_CUSTOMER,
      }),
    },
    invoice_paid: { type: 'invoice.paid', object: invoice('paid') },
    invoice_failed: { type: 'invoice.payment_failed', object: invoice('open') },
  },
  {
    event: ({ id, type, now }, object) => ({
      ...{ id, object: 'event', type, created: seconds(now), livemode: false },
      data: { object },
    }),
    async sign(body, secret, now) {
      const time = seconds(now)
      const mac = await hmac('SHA-256', utf8(secret), `${time}.`, body)
      return { 'Stripe-Signature': `t=${time},v1=${hex(mac)}` }
    },
  },
)

function subscription({ seed, since, now, metadata }: SampleOf): Json {
  const created = seconds(since)
  const period = { current_period_start: seconds(now), current_period_end: seconds(now + 30 * DAY) }
  const recurring = { interval: 'month', interval_count: 1, usage_type: 'licensed' }
  const price = { id: 'price_test_team', object: 'price', nickname: 'Team', product: 'prod_test_team', recurring }
  const { quantity, price: unit_amount } = SAMPLE_SEATS
  const item = { id: `si_test_${seed}`, object: 'subscription_item', quantity, ...period }
  return {
    ...{ id: `sub_test_${seed}`, object: 'subscription', customer: `cus_test_${seed}`, status: 'active' },
    ...{ currency: CURRENCY, created, start_date: created, livemode: false, cancel_at_period_end: false },
    metadata,
    items: { object: 'list', data: [{ ...item, price: { ...price, currency: CURRENCY, unit_amount } }] },
  }
}

function invoice(status: 'paid' | 'open') {
  const total = SAMPLE_SEATS.quantity * SAMPLE_SEATS.price
  const paid = status === 'paid' ? total : 0
  return ({ seed, now }: SampleOf): Json => ({
    ...{ id: `in_test_${randomHex(8)}`, object: 'invoice', customer: `cus_test_${seed}`, status },
    ...{ created: seconds(now), currency: CURRENCY, livemode: false },
    ...{ total, amount_due: total, amount_paid: paid, amount_remaining: total - paid },
    parent: { type: 'subscription_details', subscription_details: { subscription: `sub_test_${seed}` } },
  })
}
