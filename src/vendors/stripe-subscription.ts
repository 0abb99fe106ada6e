import { firstOf, noteMissing, prose, upperCurrency, word, wordOf } from './lib/bounded'
import { at, flag, integer, isObject, type Json, number } from './lib/json'
import { moneyIn } from './lib/money'
import { isoSeconds } from './lib/time'
import { MAX_SUBSCRIPTION_ITEMS_KEPT } from './limits'
import { knownStatus } from './objects'
import type { Made } from './snapshot'
import { discountsOf } from './stripe-discounts'
import { collectionOf, type Stripe } from './stripe-shared'

const SUBSCRIPTION = {
  trialing: 'trialing',
  active: 'active',
  past_due: 'past_due',
  unpaid: 'unpaid',
  paused: 'paused',
  incomplete: 'incomplete',
  incomplete_expired: 'incomplete_expired',
  canceled: 'canceled',
} as const

/** https://docs.stripe.com/api/subscriptions/object */
export function subscription({ object, common, cut }: Stripe): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const items = firstOf(at(object, 'items', 'data'), MAX_SUBSCRIPTION_ITEMS_KEPT, cut)
  noteMissing(object.items, cut)
  const period = periodOf(object, items)
  const body = {
    ...common,
    status,
    description: prose(object.description),
    currency: upperCurrency(object.currency) ?? upperCurrency(at(items, 0, 'price', 'currency')),
    items: items.map(itemOf),
    current_period_start: period.start,
    current_period_end: period.end,
    started_at: isoSeconds(object.start_date),
    trial_start: isoSeconds(object.trial_start),
    trial_end: isoSeconds(object.trial_end),
    billing_cycle_anchor: isoSeconds(object.billing_cycle_anchor),
    next_billed_at: null,
    cancel_at: isoSeconds(object.cancel_at),
    cancel_at_period_end: flag(object.cancel_at_period_end),
    canceled_at: isoSeconds(object.canceled_at),
    ended_at: isoSeconds(object.ended_at),
    cancellation: cancellationOf(object.cancellation_details),
    pause_collection: pauseOf(object.pause_collection),
    paused_at: null,
    collection_method: collectionOf(object.collection_method),
    days_until_due: integer(object.days_until_due),
    discounts: discountsOf(object, cut),
    latest_invoice: wordOf(object.latest_invoice),
    schedule: wordOf(object.schedule),
    // The second is of accounts that still use sources.
    default_payment_method: wordOf(object.default_payment_method) ?? wordOf(object.default_source),
    pending_setup_intent: wordOf(object.pending_setup_intent),
    application_fee_percent: number(object.application_fee_percent),
    scheduled_change: null,
  }
  return { body, terminal: status === 'canceled' || status === 'incomplete_expired' }
}

/** `plan` is what versions before prices have; later ones send both. */
function itemOf(item: Json) {
  const { price, plan } = item
  const currency = upperCurrency(at(price, 'currency')) ?? upperCurrency(at(plan, 'currency'))
  const amount = moneyIn(at(price, 'unit_amount') ?? at(plan, 'amount'), currency)?.value ?? null
  const recurring = (field: string) => at(price, 'recurring', field) ?? at(plan, field)
  return {
    id: word(item.id),
    price: wordOf(price) ?? wordOf(plan),
    price_name: prose(at(price, 'nickname') ?? at(plan, 'nickname')),
    lookup_key: word(at(price, 'lookup_key')),
    variant: null,
    product: wordOf(at(price, 'product')) ?? wordOf(at(plan, 'product')),
    quantity: integer(item.quantity),
    amount,
    amount_decimal: amount === null ? word(at(price, 'unit_amount_decimal') ?? at(plan, 'amount_decimal')) : null,
    currency,
    interval: word(recurring('interval')),
    interval_count: integer(recurring('interval_count')),
    usage_type: word(recurring('usage_type')),
    current_period_start: isoSeconds(item.current_period_start),
    current_period_end: isoSeconds(item.current_period_end),
  }
}

/** On the subscription in older versions, on each item in newer ones: of those, the period that ends first. */
function periodOf(object: Json, items: readonly Json[]): { start: string | null; end: string | null } {
  const ends = ({ current_period_end: end }: Json) => (typeof end === 'number' ? end : Number.POSITIVE_INFINITY)
  const from = isoSeconds(object.current_period_end) ? object : [...items].sort((a, b) => ends(a) - ends(b) || 0)[0]
  return { start: isoSeconds(from?.current_period_start), end: isoSeconds(from?.current_period_end) }
}

function cancellationOf(value: unknown) {
  if (!isObject(value)) return null
  const cancellation = { reason: word(value.reason), feedback: word(value.feedback), comment: prose(value.comment) }
  return Object.values(cancellation).some((part) => part !== null) ? cancellation : null
}

function pauseOf(value: unknown) {
  return isObject(value) ? { behavior: word(value.behavior), resumes_at: isoSeconds(value.resumes_at) } : null
}
