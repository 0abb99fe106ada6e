import { firstOf, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, isObject, type Json } from './lib/json'
import { moneyIn } from './lib/money'
import { isoTime } from './lib/time'
import { MAX_SUBSCRIPTION_ITEMS_KEPT } from './limits'
import { knownStatus } from './objects'
import { collectionOf, discountOf, type Paddle } from './paddle-shared'
import type { Made } from './snapshot'

const SUBSCRIPTION = {
  active: 'active',
  canceled: 'canceled',
  past_due: 'past_due',
  paused: 'paused',
  trialing: 'trialing',
} as const

/** https://developer.paddle.com/api-reference/subscriptions/overview */
export function subscription({ data, common, cut }: Paddle): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const items = firstOf(data.items, MAX_SUBSCRIPTION_ITEMS_KEPT, cut)
  const trial = (end: string) =>
    items.map((item) => isoTime(at(item, 'trial_dates', end))).find((time) => time !== null) ?? null
  const end = isoTime(at(data, 'current_billing_period', 'ends_at'))
  const change = scheduledChange(data.scheduled_change)
  const cancelAt = change?.action === 'cancel' ? change.effective_at : null
  const body = {
    ...common,
    status,
    description: null,
    currency: upperCurrency(data.currency_code),
    items: items.map(itemOf),
    current_period_start: isoTime(at(data, 'current_billing_period', 'starts_at')),
    current_period_end: end,
    started_at: isoTime(data.started_at),
    trial_start: trial('starts_at'),
    trial_end: trial('ends_at'),
    billing_cycle_anchor: null,
    next_billed_at: isoTime(data.next_billed_at),
    cancel_at: cancelAt,
    cancel_at_period_end: cancelAt !== null && cancelAt === end,
    canceled_at: isoTime(data.canceled_at),
    ended_at: status === 'canceled' ? isoTime(data.canceled_at) : null,
    cancellation: null,
    pause_collection: null,
    paused_at: isoTime(data.paused_at),
    collection_method: collectionOf(data.collection_mode),
    days_until_due: daysOf(at(data, 'billing_details', 'payment_terms')),
    discounts: data.discount === undefined ? null : discountOf(data.discount),
    latest_invoice: null,
    schedule: null,
    default_payment_method: null,
    pending_setup_intent: null,
    application_fee_percent: null,
    scheduled_change: change,
  }
  return { body, terminal: status === 'canceled' }
}

/** Paddle's unit price is a string of minor units. */
function itemOf(item: Json) {
  const { price } = item
  const currency = at(price, 'unit_price', 'currency_code')
  return {
    id: null,
    price: word(at(price, 'id')),
    price_name: prose(at(price, 'name')),
    lookup_key: null,
    variant: null,
    product: word(at(item, 'product', 'id')) ?? word(at(price, 'product_id')),
    quantity: integer(item.quantity),
    amount: moneyIn(at(price, 'unit_price', 'amount'), currency)?.value ?? null,
    amount_decimal: null,
    currency: upperCurrency(currency),
    interval: word(at(price, 'billing_cycle', 'interval')),
    interval_count: integer(at(price, 'billing_cycle', 'frequency')),
    usage_type: null,
    current_period_start: isoTime(item.previously_billed_at),
    current_period_end: isoTime(item.next_billed_at),
  }
}

function scheduledChange(value: unknown) {
  if (!isObject(value)) return null
  return {
    action: word(value.action),
    effective_at: isoTime(value.effective_at),
    resume_at: isoTime(value.resume_at),
  }
}

/** Payment terms in days or weeks; null for months and years, which have no number of days. */
function daysOf(terms: unknown): number | null {
  const frequency = integer(at(terms, 'frequency'))
  const interval = at(terms, 'interval')
  if (frequency === null) return null
  if (interval === 'day') return frequency
  return interval === 'week' ? 7 * frequency : null
}
