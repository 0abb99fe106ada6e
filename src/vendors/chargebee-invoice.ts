import { addressOf } from './chargebee-customer'
import { chargebeeAmount } from './chargebee-subscription'
import { firstOf, prose, upperCurrency, word } from './lib/bounded'
import { integer, isObject, type Json, objects } from './lib/json'
import { isoSeconds } from './lib/time'
import { MAX_DISCOUNTS, MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { knownStatus } from './objects'
import type { Made } from './snapshot'
import { blank, type From, fullName, lineWith } from './whole'

const INVOICE = {
  pending: 'draft',
  posted: 'open',
  payment_due: 'open',
  paid: 'paid',
  not_paid: 'uncollectible',
  voided: 'void',
} as const

/** https://apidocs.chargebee.com/docs/api/invoices#invoice_attributes */
export function invoice({ object, common, cut }: From): Made<'invoice'> {
  const status = object.deleted === true ? ('deleted' as const) : knownStatus(common.vendor_status, INVOICE)
  const amount = (value: unknown) => chargebeeAmount(value, object.currency_code)
  const address = object.billing_address
  const named = isObject(address) ? fullName(address.first_name, address.last_name) : null
  const body = {
    ...blank('invoice'),
    ...common,
    created_at: isoSeconds(object.generated_at) ?? isoSeconds(object.date),
    status,
    number: word(object.id),
    subscription: word(object.subscription_id),
    currency: upperCurrency(object.currency_code),
    subtotal: amount(object.sub_total),
    discount_amount: discountOf(object),
    tax: amount(object.tax),
    total: amount(object.total),
    amount_due: amount(object.amount_due),
    amount_paid: amount(object.amount_paid),
    amount_remaining: amount(object.amount_due),
    discounts: discountsOf(object),
    lines: linesOf(object, cut),
    due_at: isoSeconds(object.due_date),
    paid_at: isoSeconds(object.paid_at),
    voided_at: isoSeconds(object.voided_at),
    attempt_count: Array.isArray(object.dunning_attempts) ? object.dunning_attempts.length : null,
    next_payment_attempt: isoSeconds(object.next_retry_at),
    customer_name: prose(named),
    customer_address: addressOf(address),
  }
  return { body, terminal: false }
}

/** The sum of its discounts; null if one of them is no amount. */
function discountOf({ discounts, currency_code }: Json): number | null {
  if (discounts === undefined) return null
  const amounts = objects(discounts).map(({ amount }) => chargebeeAmount(amount, currency_code))
  const sum = amounts.reduce<number>((total, amount) => total + (amount ?? Number.NaN), 0)
  return Number.isSafeInteger(sum) ? sum : null
}

function discountsOf({ discounts, currency_code }: Json) {
  if (!Array.isArray(discounts)) return null
  return objects(discounts)
    .slice(0, MAX_DISCOUNTS)
    .map((one) => ({
      id: word(one.entity_id),
      coupon: word(one.entity_id),
      promotion_code: null,
      percent_off: null,
      amount_off: chargebeeAmount(one.amount, currency_code),
      currency: upperCurrency(currency_code),
      starts_at: null,
      ends_at: null,
    }))
}

function linesOf(object: Json, cut: From['cut']) {
  if (!Array.isArray(object.line_items)) return null
  const amount = (value: unknown) => chargebeeAmount(value, object.currency_code)
  const missing = { any: false }
  const shown = firstOf(object.line_items, MAX_LINES, missing)
  if (missing.any) cut.any = true
  const data = shown.map((line) =>
    lineWith({
      id: word(line.id),
      description: prose(line.description, MAX_LINE_TEXT_BYTES),
      price: word(line.entity_id),
      quantity: integer(line.quantity),
      amount: amount(line.amount),
      discount_amount: amount(line.discount_amount),
      tax: amount(line.tax_amount),
      period_start: isoSeconds(line.date_from),
      period_end: isoSeconds(line.date_to),
    }),
  )
  return { data, has_more: missing.any }
}
