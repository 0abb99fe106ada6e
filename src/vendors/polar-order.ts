import { firstOf, postalAddress, prose, upperCurrency, word, wordOf } from './lib/bounded'
import { at, flag, type Json, number } from './lib/json'
import { cents } from './lib/money'
import { isoTime } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { knownStatus } from './objects'
import type { Made } from './snapshot'
import { blank, type From, lineWith } from './whole'

const ORDER = {
  draft: 'draft',
  pending: 'open',
  paid: 'paid',
  refunded: 'paid',
  partially_refunded: 'paid',
  void: 'void',
} as const

/**
 * An order as an invoice: of a subscription's period, or of one purchase. A paid one is not final, because refunds come later.
 * https://docs.polar.sh/api-reference/orders/get
 */
export function order({ object, common, cut }: From): Made<'invoice'> {
  const status = knownStatus(common.vendor_status, ORDER)
  const amount = (value: unknown) => cents(value, object.currency)?.value ?? null
  const due = amount(object.due_amount) ?? amount(object.total_amount)
  const body = {
    ...blank('invoice'),
    ...common,
    status,
    number: word(object.invoice_number),
    description: prose(object.description),
    subscription: word(object.subscription_id),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal_amount),
    discount_amount: amount(object.discount_amount),
    tax: amount(object.tax_amount),
    total: amount(object.total_amount),
    amount_due: due,
    amount_paid: status === 'paid' ? due : status === 'open' ? 0 : null,
    amount_remaining: status === 'paid' ? 0 : status === 'open' ? due : null,
    discounts: discountsOf(object),
    lines: linesOf(object, cut),
    billing_reason: word(object.billing_reason),
    customer_name: prose(object.billing_name),
    customer_address: postalAddress(object.billing_address),
  }
  return { body, terminal: status === 'void' }
}

function linesOf(object: Json, cut: From['cut']) {
  if (!Array.isArray(object.items)) return null
  const missing = { any: false }
  const shown = firstOf(object.items, MAX_LINES, missing)
  if (missing.any) cut.any = true
  const amount = (value: unknown) => cents(value, object.currency)?.value ?? null
  const data = shown.map((line) =>
    lineWith({
      id: word(line.id),
      description: prose(line.label, MAX_LINE_TEXT_BYTES),
      price: word(line.product_price_id),
      product: word(object.product_id),
      amount: amount(line.amount),
      tax: amount(line.tax_amount),
      proration: flag(line.proration),
    }),
  )
  return { data, has_more: missing.any }
}

/** A percentage is in hundredths of a percent. */
export function discountsOf({ discount, discount_id }: Json) {
  const id = wordOf(discount) ?? word(discount_id)
  if (id === null) return discount_id === undefined && discount === undefined ? null : []
  const points = number(at(discount, 'basis_points'))
  const currency = upperCurrency(at(discount, 'currency'))
  return [
    {
      id,
      coupon: word(at(discount, 'code')),
      promotion_code: null,
      percent_off: points === null ? null : points / 100,
      amount_off: cents(at(discount, 'amount'), currency)?.value ?? null,
      currency,
      starts_at: isoTime(at(discount, 'starts_at')),
      ends_at: isoTime(at(discount, 'ends_at')),
    },
  ]
}
