import type { StateKind } from './kinds'
import { boundedMetadata, type Cut, firstOf, postalAddress, prose, upperCurrency, word } from './lib/bounded'
import { at, flag, integer, isObject, type Json, objects } from './lib/json'
import { decimal } from './lib/money'
import { required } from './lib/read'
import { isoTime } from './lib/time'
import { MAX_DISCOUNTS, MAX_LINE_TEXT_BYTES, MAX_LINES, MAX_SUBSCRIPTION_ITEMS_KEPT } from './limits'
import { knownStatus } from './objects'
import { EVENT_STEPS, type Made, type Snapshot } from './snapshot'
import { blank, type From, fullName, itemWith, lineWith, wholeSnapshot } from './whole'

/** An object of Recurly's API as billing state. @param when the time of its version, as the fetch noted it */
export function recurlySnapshot(object: Json, kind: StateKind, when: string | null): Snapshot[] {
  const cut: Cut = { any: false }
  const common = {
    customer: word(at(object.account, 'code')),
    vendor_status: word(object.state),
    livemode: null,
    created_at: isoTime(object.created_at),
    updated_at: isoTime(object.updated_at),
    metadata: boundedMetadata(customFields(object), cut),
  }
  const of = {
    id: required(object.id, 'id'),
    when: { version: null, occurred_at: when, updated_at: null, step: EVENT_STEPS.updated },
  }
  const from: From = { type: '', object, common, cut }
  if (kind === 'subscription') return [wholeSnapshot({ kind, ...of }, subscription(from), cut)]
  return kind === 'invoice' ? [wholeSnapshot({ kind, ...of }, invoice(from), cut)] : []
}

/** Pairs of a name and a value. */
function customFields({ custom_fields }: Json): Json {
  return Object.fromEntries(objects(custom_fields).map(({ name, value }) => [String(name), value]))
}

const amountOf = (value: unknown, { currency }: Json) => decimal(value, currency)?.value ?? null

const SUBSCRIPTION = {
  active: 'active',
  canceled: 'active', // until it expires
  expired: 'canceled',
  failed: 'incomplete_expired',
  future: 'scheduled',
  paused: 'paused',
} as const

/**
 * SubscriptionStateEnum. There is no state for a trial, nor for one that is not paid: it stays active until dunning ends. It is on trial
 * while its current period is that of the trial.
 * https://recurly.com/developers/api/v2021-02-25/#tag/subscription
 */
function subscription({ object, common, cut }: From): Made<'subscription'> {
  const known = knownStatus(common.vendor_status, SUBSCRIPTION)
  const end = isoTime(object.current_period_ends_at)
  const trialEnd = isoTime(object.trial_ends_at)
  const onTrial = known === 'active' && end !== null && trialEnd !== null && Date.parse(end) <= Date.parse(trialEnd)
  const isOver = known === 'canceled' || known === 'incomplete_expired'
  const ends = common.vendor_status === 'canceled'
  const expires = isoTime(object.expires_at)
  const paused = isoTime(object.paused_at)
  const body = {
    ...blank('subscription'),
    ...common,
    status: onTrial ? ('trialing' as const) : known,
    currency: upperCurrency(object.currency),
    items: itemsOf(object, cut),
    current_period_start: isoTime(object.current_period_started_at),
    current_period_end: end,
    started_at: isoTime(object.activated_at),
    trial_start: isoTime(object.trial_started_at),
    trial_end: trialEnd,
    cancel_at: ends ? (expires ?? end) : null,
    cancel_at_period_end: isOver ? false : ends,
    canceled_at: isoTime(object.canceled_at),
    ended_at: isOver ? expires : null,
    cancellation: word(object.expiration_reason)
      ? { reason: word(object.expiration_reason), feedback: null, comment: null }
      : null,
    paused_at: known === 'paused' ? paused : null,
    // One that will pause has the time of that.
    scheduled_change:
      known === 'active' && paused !== null ? { action: 'pause', effective_at: paused, resume_at: null } : null,
    collection_method: collectionOf(object),
    discounts: discountsOf(object),
    latest_invoice: word(object.active_invoice_id),
    default_payment_method: word(object.billing_info_id),
  }
  return { body, terminal: isOver }
}

function collectionOf({ collection_method: method }: Json) {
  if (method === 'automatic') return 'charge_automatically' as const
  return method === 'manual' ? ('send_invoice' as const) : null
}

/** The plan, then the add-ons, each by its code. */
function itemsOf(object: Json, cut: Cut) {
  const { plan, quantity, unit_amount } = object
  const item = (coded: unknown, one: Json) =>
    itemWith({
      id: word(one.id),
      price: word(at(coded, 'code')),
      price_name: prose(at(coded, 'name')),
      quantity: integer(one.quantity),
      amount: amountOf(one.unit_amount, object),
      currency: upperCurrency(object.currency),
    })
  const addOns = firstOf(object.add_ons, MAX_SUBSCRIPTION_ITEMS_KEPT - 1, cut)
  return [item(plan, { quantity, unit_amount }), ...addOns.map((one) => item(one.add_on, one))]
}

function discountsOf({ coupon_redemptions }: Json) {
  if (!Array.isArray(coupon_redemptions)) return null
  const unknown = { percent_off: null, amount_off: null, currency: null, ends_at: null }
  return objects(coupon_redemptions)
    .slice(0, MAX_DISCOUNTS)
    .map(({ id, coupon, created_at }) => ({
      ...unknown,
      id: word(id),
      coupon: word(at(coupon, 'code')),
      promotion_code: null,
      starts_at: isoTime(created_at),
    }))
}

const INVOICE = {
  pending: 'open',
  open: 'open',
  processing: 'open',
  past_due: 'open',
  paid: 'paid',
  closed: 'paid',
  failed: 'uncollectible',
  voided: 'void',
} as const

/** InvoiceStateEnum. https://recurly.com/developers/api/v2021-02-25/#tag/invoice */
function invoice({ object, common, cut }: From): Made<'invoice'> {
  const status = knownStatus(common.vendor_status, INVOICE)
  const amount = (value: unknown) => amountOf(value, object)
  const closed = isoTime(object.closed_at)
  const { address } = object
  const [subscription] = Array.isArray(object.subscription_ids) ? object.subscription_ids : []
  const body = {
    ...blank('invoice'),
    ...common,
    status,
    number: word(object.number),
    subscription: word(subscription),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal),
    discount_amount: amount(object.discount),
    tax: amount(object.tax),
    total: amount(object.total),
    amount_due: amount(object.balance),
    amount_paid: amount(object.paid),
    amount_remaining: amount(object.balance),
    discounts: discountsOf(object),
    lines: linesOf(object, cut),
    billing_reason: word(object.origin),
    collection_method: collectionOf(object),
    due_at: isoTime(object.due_at),
    paid_at: status === 'paid' ? closed : null,
    uncollectible_at: status === 'uncollectible' ? closed : null,
    default_payment_method: word(object.billing_info_id),
    customer_email: word(at(object.account, 'email')),
    customer_name: isObject(address) ? prose(fullName(address.first_name, address.last_name)) : null,
    customer_address: addressOf(address),
  }
  return { body, terminal: false }
}

function addressOf(value: unknown) {
  if (!isObject(value)) return null
  const { street1, street2, city, region, postal_code, country } = value
  return postalAddress({ line1: street1, line2: street2, city, state: region, postal_code, country })
}

function linesOf(object: Json, cut: Cut) {
  const { line_items, has_more_line_items } = object
  if (!Array.isArray(line_items)) return null
  const more = flag(has_more_line_items) ?? false
  const data = firstOf(line_items, MAX_LINES, cut).map((line) =>
    lineWith({
      id: word(line.id),
      description: prose(line.description, MAX_LINE_TEXT_BYTES),
      price: word(line.add_on_code) ?? word(line.plan_code),
      quantity: integer(line.quantity),
      amount: amountOf(line.subtotal, object),
      discount_amount: amountOf(line.discount, object),
      tax: amountOf(line.tax, object),
      period_start: isoTime(line.start_date),
      period_end: isoTime(line.end_date),
      proration: typeof line.proration_rate === 'number' ? line.proration_rate < 1 : null,
    }),
  )
  return { data, has_more: more || line_items.length > data.length }
}
