import type { StateKind } from './kinds'
import { orderSold } from './lemonsqueezy-purchase'
import { type Cut, link, prose, upperCurrency, word } from './lib/bounded'
import { at, flag, integer, isObject, type Json, numericId, text } from './lib/json'
import { cents } from './lib/money'
import { required } from './lib/read'
import { isoTime } from './lib/time'
import { knownStatus } from './objects'
import { partSnapshot } from './purchase-parts'
import { EVENT_STEPS, type Made, type Snapshot } from './snapshot'
import { blank, type From, itemWith, wholeSnapshot } from './whole'

/**
 * Lemon Squeezy's objects as billing state. The time is the object's own, in whole seconds, and no event says what the object was before.
 * Events of one second may contradict each other whatever their names are: then the object is ambiguous.
 */
export function lemonsqueezySnapshot(
  type: string,
  data: Json,
  kind: StateKind | 'purchase',
  livemode: boolean | null,
): Snapshot {
  const cut: Cut = { any: false }
  const object = isObject(data.attributes) ? data.attributes : {}
  const occurred_at = isoTime(object.updated_at)
  const common = {
    customer: word(numericId(object.customer_id)),
    vendor_status: word(object.status),
    livemode,
    created_at: isoTime(object.created_at),
    updated_at: occurred_at,
    metadata: null,
  }
  const when = { version: null, occurred_at, updated_at: null, step: EVENT_STEPS.updated }
  const id = required(numericId(data.id), 'data.id')
  const from = { type, object, common, cut }
  if (kind === 'purchase') return partSnapshot(when, orderSold(id, from))
  if (kind === 'invoice') return wholeSnapshot({ kind, id, when }, invoice(from), cut)
  return wholeSnapshot({ kind: 'subscription', id, when }, subscription(from), cut)
}

const SUBSCRIPTION = {
  on_trial: 'trialing',
  active: 'active',
  paused: 'paused',
  past_due: 'past_due',
  unpaid: 'unpaid',
  // Until it ends. Then it is expired.
  cancelled: 'active',
  expired: 'canceled',
} as const

/** https://docs.lemonsqueezy.com/api/subscriptions/the-subscription-object */
function subscription({ object, common }: From): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const ends = isoTime(object.ends_at)
  const end = isoTime(object.renews_at)
  const first = object.first_subscription_item
  const metered = flag(at(first, 'is_usage_based'))
  const ended = common.vendor_status === 'expired'
  const canceled = flag(object.cancelled)
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    description: prose(object.product_name),
    items: [
      itemWith({
        id: word(numericId(at(first, 'id'))),
        price: word(numericId(at(first, 'price_id'))),
        price_name: prose(object.variant_name),
        variant: word(numericId(object.variant_id)),
        product: word(numericId(object.product_id)),
        quantity: integer(at(first, 'quantity')),
        usage_type: metered === null ? null : metered ? 'metered' : 'licensed',
      }),
    ],
    current_period_end: end,
    trial_end: isoTime(object.trial_ends_at),
    next_billed_at: canceled === true ? null : end,
    cancel_at: ended ? null : ends,
    cancel_at_period_end: canceled === null ? null : canceled && !ended,
    ended_at: ended ? ends : null,
    pause_collection: isObject(object.pause)
      ? { behavior: word(object.pause.mode), resumes_at: isoTime(object.pause.resumes_at) }
      : null,
  }
  return { body, terminal: ended }
}

const INVOICE = {
  pending: 'open',
  paid: 'paid',
  refunded: 'paid',
  partial_refund: 'paid',
  void: 'void',
} as const

/**
 * A paid one is not final, because refunds come later.
 * https://docs.lemonsqueezy.com/api/subscription-invoices/the-subscription-invoice-object
 */
function invoice({ object, common }: From): Made<'invoice'> {
  const status = knownStatus(common.vendor_status, INVOICE)
  const amount = (value: unknown) => cents(value, object.currency)?.value ?? null
  const total = amount(object.total)
  const body = {
    ...blank('invoice'),
    ...common,
    status,
    subscription: word(numericId(object.subscription_id)),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal),
    discount_amount: amount(object.discount_total),
    tax: amount(object.tax),
    total,
    amount_due: total,
    amount_paid: status === 'paid' ? total : status === 'open' ? 0 : null,
    amount_remaining: status === 'paid' ? 0 : status === 'open' ? total : null,
    billing_reason: word(object.billing_reason),
    hosted_url: link(at(object, 'urls', 'invoice_url')),
    customer_email: word(object.user_email),
    customer_name: prose(text(object.user_name)),
  }
  return { body, terminal: status === 'void' }
}
