import type { StateKind } from './kinds'
import { boundedMetadata, type Cut, firstOf, postalAddress, prose, upperCurrency, word, wordOf } from './lib/bounded'
import { at, flag, integer, isObject, type Json, text } from './lib/json'
import { cents } from './lib/money'
import { required } from './lib/read'
import { isoTime } from './lib/time'
import { MAX_SUBSCRIPTION_ITEMS_KEPT } from './limits'
import { knownStatus } from './objects'
import { discountsOf, order } from './polar-order'
import { orderSale, refundParts } from './polar-purchase'
import { partSnapshot } from './purchase-parts'
import { EVENT_STEPS, type EventStep, type Made, type Snapshot } from './snapshot'
import { blank, type From, itemWith, wholeSnapshot } from './whole'

/** Polar's objects as billing state. Polar does not send what an object was before. */
export function polarSnapshots(event: Json, data: Json, kind: StateKind | 'purchase'): Snapshot[] {
  const cut: Cut = { any: false }
  const type = String(event.type)
  const occurred_at = isoTime(event.timestamp)
  const common = {
    customer: word(data.customer_id) ?? wordOf(data.customer),
    vendor_status: word(data.status),
    livemode: null,
    created_at: isoTime(data.created_at),
    updated_at: occurred_at,
    metadata: boundedMetadata(data.metadata, cut),
  }
  const when = { version: null, occurred_at, updated_at: isoTime(data.modified_at), step: stepOf(type) }
  const id = required(data.id, 'data.id')
  const from = { type, object: data, common, cut }
  if (kind === 'purchase') return refundParts(from).map((one) => partSnapshot(when, one))
  if (kind === 'subscription') return [wholeSnapshot({ kind, id, when }, subscription(from), cut)]
  if (kind !== 'invoice') return [wholeSnapshot({ kind: 'customer', id, when }, customer(from), cut)]
  const bought = orderSale(from).map((one) => partSnapshot(when, one))
  return [wholeSnapshot({ kind, id, when }, order(from), cut), ...bought]
}

function stepOf(type: string): EventStep {
  if (type.endsWith('.created')) return EVENT_STEPS.created
  return type.endsWith('.deleted') ? EVENT_STEPS.deleted : EVENT_STEPS.updated
}

const SUBSCRIPTION = {
  incomplete: 'incomplete',
  incomplete_expired: 'incomplete_expired',
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  canceled: 'canceled',
  unpaid: 'unpaid',
} as const

/** https://docs.polar.sh/api-reference/subscriptions/get */
function subscription({ object, common, cut }: From): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const end = isoTime(object.current_period_end)
  const ends = flag(object.cancel_at_period_end)
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    currency: upperCurrency(object.currency),
    items: itemsOf(object, cut),
    current_period_start: isoTime(object.current_period_start),
    current_period_end: end,
    started_at: isoTime(object.started_at),
    trial_start: isoTime(object.trial_start),
    trial_end: isoTime(object.trial_end),
    cancel_at: ends === true ? (isoTime(object.ends_at) ?? end) : null,
    cancel_at_period_end: ends,
    canceled_at: isoTime(object.canceled_at),
    ended_at: isoTime(object.ended_at),
    cancellation: cancellationOf(object),
    discounts: discountsOf(object),
  }
  return { body, terminal: status === 'canceled' || status === 'incomplete_expired' }
}

/** The prices of its product that apply to it. An event without them still names the product. */
function itemsOf(object: Json, cut: Cut) {
  const prices = firstOf(object.prices, MAX_SUBSCRIPTION_ITEMS_KEPT, cut)
  const one = isObject(object.price) ? [object.price] : [{}]
  return (prices.length > 0 ? prices : one).map((price: Json) => {
    const currency = price.price_currency ?? object.currency
    return itemWith({
      price: word(price.id),
      price_name: prose(at(object, 'product', 'name')),
      product: word(object.product_id) ?? wordOf(object.product),
      quantity: integer(object.seats),
      amount: cents(price.price_amount, currency)?.value ?? null,
      currency: upperCurrency(currency),
      interval: word(object.recurring_interval),
      interval_count: integer(object.recurring_interval_count),
      usage_type: text(price.amount_type)?.startsWith('metered') ? 'metered' : null,
    })
  })
}

function cancellationOf(object: Json) {
  const reason = word(object.customer_cancellation_reason)
  const comment = prose(object.customer_cancellation_comment)
  return reason === null && comment === null ? null : { reason, feedback: null, comment }
}

/** https://docs.polar.sh/api-reference/customers/get */
function customer({ type, object, common }: From): Made<'customer'> {
  const deleted = type === 'customer.deleted' || isoTime(object.deleted_at) !== null
  const body = {
    ...blank('customer'),
    ...common,
    customer: null, // it is the customer
    status: deleted ? ('deleted' as const) : ('active' as const),
    email: word(object.email),
    name: prose(object.name),
    address: postalAddress(object.billing_address),
    locale: word(object.locale),
  }
  return { body, terminal: deleted }
}
