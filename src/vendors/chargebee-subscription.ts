import { firstOf, prose, upperCurrency, word } from './lib/bounded'
import { integer, type Json, objects } from './lib/json'
import { cents } from './lib/money'
import { isoSeconds } from './lib/time'
import { MAX_DISCOUNTS, MAX_SUBSCRIPTION_ITEMS_KEPT } from './limits'
import { knownStatus } from './objects'
import type { Made } from './snapshot'
import { blank, type From, itemWith } from './whole'

const SUBSCRIPTION = {
  future: 'scheduled',
  in_trial: 'trialing',
  active: 'active',
  non_renewing: 'active',
  paused: 'paused',
  cancelled: 'canceled',
  transferred: 'canceled',
} as const

/** Whole amounts or cents, as the currency has them. Currencies with thousandths are not documented. */
export const chargebeeAmount = (value: unknown, currency: unknown) => cents(value, currency, [0, 2])?.value ?? null

/**
 * Chargebee has no status for a subscription that is not paid: it stays active until dunning ends. One that is deleted keeps the status
 * that it had.
 * https://apidocs.chargebee.com/docs/api/subscriptions#subscription_attributes
 */
export function subscription({ object, common, cut }: From): Made<'subscription'> {
  const { vendor_status } = common
  const status = object.deleted === true ? 'canceled' : knownStatus(vendor_status, SUBSCRIPTION)
  const trialEnd = isoSeconds(object.trial_end)
  const inTrial = vendor_status === 'in_trial'
  const end = isoSeconds(object.current_term_end) ?? (inTrial ? trialEnd : null)
  const canceled = isoSeconds(object.cancelled_at)
  const isOver = status === 'canceled'
  const ends = vendor_status === 'non_renewing'
  const body = {
    ...blank('subscription'),
    ...common,
    status,
    currency: upperCurrency(object.currency_code),
    items: itemsOf(object, cut),
    current_period_start: isoSeconds(object.current_term_start) ?? (inTrial ? isoSeconds(object.trial_start) : null),
    current_period_end: end,
    started_at: isoSeconds(object.started_at) ?? isoSeconds(object.start_date),
    trial_start: isoSeconds(object.trial_start),
    trial_end: trialEnd,
    next_billed_at: isoSeconds(object.next_billing_at),
    // Before it is over, the time of the cancellation is the one at which it will end.
    cancel_at: isOver ? null : ends ? (end ?? canceled) : canceled,
    cancel_at_period_end: isOver ? false : ends || (canceled !== null && canceled === end),
    ended_at: isOver ? (canceled ?? (object.deleted === true ? common.updated_at : null)) : null,
    cancellation: word(object.cancel_reason)
      ? { reason: word(object.cancel_reason), feedback: prose(object.cancel_reason_code), comment: null }
      : null,
    paused_at: vendor_status === 'paused' ? isoSeconds(object.pause_date) : null,
    discounts: couponsOf(object),
    default_payment_method: word(object.payment_source_id),
    scheduled_change: changeOf(object),
  }
  return { body, terminal: false }
}

/** The items of the newer catalog; or the plan and the addons of the older one. What is charged once is none. */
function itemsOf(object: Json, cut: From['cut']) {
  const { currency_code: currency } = object
  const common = {
    currency: upperCurrency(currency),
    interval: word(object.billing_period_unit),
    interval_count: integer(object.billing_period),
  }
  const item = (price: unknown, quantity: unknown, amount: unknown) =>
    itemWith({ ...common, price: word(price), quantity: integer(quantity), amount: chargebeeAmount(amount, currency) })
  const items = objects(object.subscription_items).filter(({ item_type }) => item_type !== 'charge')
  const shown = firstOf(items, MAX_SUBSCRIPTION_ITEMS_KEPT, cut)
  if (Array.isArray(object.subscription_items))
    return shown.map((one) => item(one.item_price_id, one.quantity, one.unit_price))
  const plan = item(object.plan_id, object.plan_quantity, object.plan_unit_price)
  const addons = firstOf(object.addons, MAX_SUBSCRIPTION_ITEMS_KEPT - 1, cut)
  return [...(plan.price === null ? [] : [plan]), ...addons.map((one) => item(one.id, one.quantity, one.unit_price))]
}

function couponsOf({ coupons }: Json) {
  if (!Array.isArray(coupons)) return null
  return objects(coupons)
    .slice(0, MAX_DISCOUNTS)
    .map((one) => ({
      id: word(one.coupon_id),
      coupon: word(one.coupon_id),
      promotion_code: word(one.coupon_code),
      percent_off: null,
      amount_off: null,
      currency: null,
      starts_at: null,
      ends_at: isoSeconds(one.apply_till),
    }))
}

/** A pause that is to come. */
function changeOf({ status, pause_date, resume_date }: Json) {
  const pause = isoSeconds(pause_date)
  if (pause === null || status === 'paused') return null
  return { action: 'pause', effective_at: pause, resume_at: isoSeconds(resume_date) }
}
