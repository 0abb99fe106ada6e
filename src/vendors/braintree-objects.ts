import { type Cut, firstOf, prose, upperCurrency, word } from './lib/bounded'
import { at, isObject, type Json, objects, text } from './lib/json'
import { decimal } from './lib/money'
import { required } from './lib/read'
import { endOfDay, isoTime, startOfDay } from './lib/time'
import type { Element } from './lib/xml'
import { MAX_DISCOUNTS, MAX_SUBSCRIPTION_ITEMS_KEPT } from './limits'
import { knownStatus } from './objects'
import { EVENT_STEPS, type Made, type Snapshot } from './snapshot'
import { blank, type From, itemWith, wholeSnapshot } from './whole'

/** An element as JSON: its text (null if there is none), or its children by name, with a list for a name that several of them have. */
export function toJson({ text: own, children }: Element): Json | string | null {
  if (children.length === 0) return own.trim() || null
  const named = Map.groupBy(children, ({ name }) => name)
  return Object.fromEntries(
    [...named].map(([name, all]) => [name, all.length === 1 && all[0] ? toJson(all[0]) : all.map(toJson)]),
  )
}

/** The members of a list in XML: `<add-ons><add-on>…`. */
function listIn(value: unknown, name: string): Json[] {
  const members = isObject(value) && Object.hasOwn(value, name) ? value[name] : null
  return objects(Array.isArray(members) ? members : [members])
}

/** The payments of a subscription, the newest first. Only they name the customer. */
export function transactionsOf(subscription: unknown): Json[] {
  return listIn(at(subscription, 'transactions'), 'transaction')
}

export function customerOf(subscription: unknown): string | null {
  return (
    transactionsOf(subscription)
      .map((one) => text(at(one, 'customer', 'id')))
      .find((id) => id !== null) ?? null
  )
}

/** The subscription of a notification as billing state. Braintree does not send what it was before. */
export function braintreeSnapshot(notification: Json, object: Json): Snapshot {
  const cut: Cut = { any: false }
  const type = String(notification.kind)
  const told = isoTime(notification.timestamp)
  const common = {
    customer: word(customerOf(object)),
    vendor_status: word(object.status),
    livemode: null,
    created_at: isoTime(object['created-at']),
    updated_at: told,
    metadata: null,
  }
  const when = {
    version: null,
    occurred_at: isoTime(object['updated-at']) ?? told,
    updated_at: told,
    step: EVENT_STEPS.updated,
  }
  const id = required(object.id, 'subscription.id')
  return wholeSnapshot({ kind: 'subscription', id, when }, subscription({ type, object, common, cut }), cut)
}

const SUBSCRIPTION = {
  Pending: 'scheduled',
  Active: 'active',
  'Past Due': 'past_due',
  Canceled: 'canceled',
  Expired: 'canceled',
} as const

/**
 * Braintree has no status for a trial: such a subscription is active, and its first billing date is to come. Days without a time count
 * in UTC.
 * https://developer.paypal.com/braintree/docs/reference/response/subscription
 */
function subscription({ object, common, cut }: From): Made<'subscription'> {
  const status = knownStatus(common.vendor_status, SUBSCRIPTION)
  const isOver = status === 'canceled'
  const billed = startOfDay(object['first-billing-date'])
  const trial = object['trial-period'] === 'true'
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    description: prose(object.description),
    currency: currencyOf(object),
    items: itemsOf(object, cut),
    current_period_start: startOfDay(object['billing-period-start-date']),
    // Before the first billing there is no period: the trial lasts until then.
    current_period_end: endOfDay(object['billing-period-end-date']) ?? startOfDay(object['next-billing-date']),
    started_at: isoTime(object['created-at']),
    trial_start: trial ? isoTime(object['created-at']) : null,
    trial_end: trial ? billed : null,
    next_billed_at: isOver ? null : startOfDay(object['next-billing-date']),
    ended_at: isOver ? common.updated_at : null,
    default_payment_method: word(object['payment-method-token']),
    discounts: discountsOf(object),
  }
  return { body, terminal: isOver }
}

/** A subscription names its currency only in its history and its payments. */
function currencyOf(object: Json): string | null {
  const said = [...listIn(object['status-history'], 'status-event'), ...transactionsOf(object)]
  return said.map((one) => upperCurrency(one['currency-iso-code'])).find((currency) => currency !== null) ?? null
}

function itemsOf(object: Json, cut: From['cut']) {
  const currency = currencyOf(object)
  const amount = (value: unknown) => decimal(value, currency)?.value ?? null
  const plan = itemWith({ price: word(object['plan-id']), quantity: 1, amount: amount(object.price), currency })
  const addOns = firstOf(listIn(object['add-ons'], 'add-on'), MAX_SUBSCRIPTION_ITEMS_KEPT - 1, cut)
  const item = (one: Json) =>
    itemWith({
      price: word(one.id),
      price_name: prose(one.name),
      quantity: wholeIn(one.quantity),
      amount: amount(one.amount),
      currency,
    })
  return [plan, ...addOns.map(item)]
}

/** Numbers are texts in XML. */
function wholeIn(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : null
}

function discountsOf(object: Json) {
  const currency = currencyOf(object)
  return listIn(object.discounts, 'discount')
    .slice(0, MAX_DISCOUNTS)
    .map((one) => ({
      id: word(one.id),
      coupon: null,
      promotion_code: null,
      percent_off: null,
      amount_off: decimal(one.amount, currency)?.value ?? null,
      currency,
      starts_at: null,
      ends_at: null,
    }))
}
