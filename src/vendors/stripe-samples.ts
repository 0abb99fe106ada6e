import { hex, hmac, randomHex, utf8 } from '../lib/crypto'
import { DAY, SECOND } from '../lib/time'
import type { Json } from './lib/json'
import { SAMPLE_CONSUMER, SAMPLE_EVENT, type Sample, type Samples } from './samples'

/** Seats of the subscription, and the price of each a month, in cents. */
const SEATS = 5
const SEAT = 1900

type Of = { seed: string; now: number; metadata: Json }
/** @property made the object of an event: of this connection, now (s) */
type Made = Sample & { made: (of: Of) => Json }

const subscribed = (more: Json) => (of: Of) => ({ ...subscription(of), ...more })

const LIST: Record<string, Made> = {
  subscription_started: {
    type: 'customer.subscription.created',
    does: `starts a subscription to ${SEATS} seats`,
    made: subscribed({}),
  },
  subscription_past_due: {
    type: 'customer.subscription.updated',
    does: 'makes the subscription past due',
    made: subscribed({ status: 'past_due' }),
  },
  subscription_ending: {
    type: 'customer.subscription.updated',
    does: 'cancels the subscription at the end of its period',
    made: subscribed({ cancel_at_period_end: true }),
  },
  customer: {
    type: 'customer.created',
    does: 'creates the customer, with a name and an email address',
    made: ({ seed, now, metadata }) => ({
      ...{ id: `cus_test_${seed}`, object: 'customer', created: now, livemode: false, metadata },
      ...{ name: 'Test Customer', email: 'test.customer@example.com' },
    }),
  },
  invoice_paid: { type: 'invoice.paid', does: 'adds a paid invoice', made: invoice('paid') },
  invoice_failed: {
    type: 'invoice.payment_failed',
    does: 'adds an invoice whose payment failed',
    made: invoice('open'),
  },
}

function subscription({ seed, now, metadata }: Of): Json {
  const period = { current_period_start: now, current_period_end: now + (30 * DAY) / SECOND }
  const recurring = { interval: 'month', interval_count: 1, usage_type: 'licensed' }
  const price = { id: 'price_test_team', object: 'price', nickname: 'Team', product: 'prod_test_team', recurring }
  const item = { id: `si_test_${seed}`, object: 'subscription_item', quantity: SEATS, ...period }
  return {
    ...{ id: `sub_test_${seed}`, object: 'subscription', customer: `cus_test_${seed}`, status: 'active' },
    ...{ currency: 'eur', created: now, start_date: now, livemode: false, cancel_at_period_end: false },
    metadata,
    items: { object: 'list', data: [{ ...item, price: { ...price, currency: 'eur', unit_amount: SEAT } }] },
  }
}

function invoice(status: 'paid' | 'open') {
  const total = SEATS * SEAT
  const paid = status === 'paid' ? total : 0
  return ({ seed, now }: Of): Json => ({
    ...{ id: `in_test_${randomHex(8)}`, object: 'invoice', customer: `cus_test_${seed}`, status, created: now },
    ...{
      currency: 'eur',
      total,
      amount_due: total,
      amount_paid: paid,
      amount_remaining: total - paid,
      livemode: false,
    },
    parent: { type: 'subscription_details', subscription_details: { subscription: `sub_test_${seed}` } },
  })
}

/** Test events of Stripe, with the fields that we read. */
export const stripeSamples: Samples = {
  list: LIST,
  body(name, { seed, now, consumer_key }) {
    const { type, made } = LIST[name] as Made
    const created = Math.floor(now / SECOND)
    const id = `${SAMPLE_EVENT}${randomHex(12)}`
    return JSON.stringify({
      id,
      object: 'event',
      type,
      created,
      livemode: false,
      data: { object: made({ seed, now: created, metadata: { [consumer_key]: SAMPLE_CONSUMER } }) },
    })
  },
  async sign(body, secret, now) {
    const time = Math.floor(now / SECOND)
    const mac = await hmac('SHA-256', utf8(secret), `${time}.`, body)
    return { 'Stripe-Signature': `t=${time},v1=${hex(mac)}` }
  },
}
