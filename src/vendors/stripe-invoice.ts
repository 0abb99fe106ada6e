import { type Cut, firstOf, link, noteMissing, postalAddress, prose, upperCurrency, word, wordOf } from './lib/bounded'
import { at, flag, integer, type Json, objects } from './lib/json'
import { moneyIn } from './lib/money'
import { isoSeconds } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES, MAX_TAX_IDS } from './limits'
import { knownStatus } from './objects'
import type { Made } from './snapshot'
import { discountsOf } from './stripe-discounts'
import { collectionOf, type Stripe } from './stripe-shared'

const INVOICE = {
  draft: 'draft',
  open: 'open',
  paid: 'paid',
  void: 'void',
  uncollectible: 'uncollectible',
  deleted: 'deleted',
} as const

/** https://docs.stripe.com/api/invoices/object */
export function invoice({ type, object, common, cut }: Stripe): Made<'invoice'> {
  // No published status is "deleted": the snapshot may be the draft that was deleted.
  const status = type === 'invoice.deleted' ? 'deleted' : knownStatus(common.vendor_status, INVOICE)
  const amount = (value: unknown) => moneyIn(value, object.currency)?.value ?? null
  const sum = (list: unknown) => addedUp(list, object.currency)
  const moved = (what: string) => isoSeconds(at(object, 'status_transitions', what))
  const payment = paymentOf(object.payments)
  const body = {
    ...common,
    status,
    number: word(object.number),
    description: prose(object.description),
    subscription: wordOf(at(object, 'parent', 'subscription_details', 'subscription')) ?? wordOf(object.subscription),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal),
    discount_amount: sum(object.total_discount_amounts),
    // The first since 2025-03-31, the others before.
    tax: sum(object.total_taxes) ?? amount(object.tax) ?? sum(object.total_tax_amounts),
    total: amount(object.total),
    amount_due: amount(object.amount_due),
    amount_paid: amount(object.amount_paid),
    amount_remaining: amount(object.amount_remaining),
    starting_balance: amount(object.starting_balance),
    ending_balance: amount(object.ending_balance),
    pre_payment_credit_notes_amount: amount(object.pre_payment_credit_notes_amount),
    post_payment_credit_notes_amount: amount(object.post_payment_credit_notes_amount),
    discounts: discountsOf(object, cut),
    lines: linesOf(object, cut),
    billing_reason: word(object.billing_reason),
    collection_method: collectionOf(object.collection_method),
    period_start: isoSeconds(object.period_start),
    period_end: isoSeconds(object.period_end),
    finalized_at: moved('finalized_at') ?? isoSeconds(object.finalized_at),
    due_at: isoSeconds(object.due_date),
    paid_at: moved('paid_at'),
    voided_at: moved('voided_at'),
    uncollectible_at: moved('marked_uncollectible_at'),
    attempt_count: integer(object.attempt_count),
    next_payment_attempt: isoSeconds(object.next_payment_attempt),
    payment_intent: wordOf(object.payment_intent) ?? wordOf(at(payment, 'payment_intent')),
    charge: wordOf(object.charge) ?? wordOf(at(payment, 'charge')),
    // The second is of accounts that still use sources.
    default_payment_method: wordOf(object.default_payment_method) ?? wordOf(object.default_source),
    receipt_number: word(object.receipt_number),
    hosted_url: link(object.hosted_invoice_url),
    pdf_url: link(object.invoice_pdf),
    customer_email: word(object.customer_email),
    customer_name: prose(object.customer_name),
    customer_address: postalAddress(object.customer_address),
    customer_tax_exempt: word(object.customer_tax_exempt),
    customer_tax_ids: taxIdsOf(object.customer_tax_ids, cut),
  }
  return { body, terminal: status === 'paid' || status === 'void' || status === 'deleted' }
}

/** Since 2025-03-31 an invoice may have several payments: the default one, or else the first. */
function paymentOf(payments: unknown): unknown {
  const all = objects(at(payments, 'data'))
  return (all.find(({ is_default }) => is_default === true) ?? all[0])?.payment
}

/** The amounts of a list, such as the taxes, added up; null if it is not a list, or one of them is no amount. */
export function addedUp(list: unknown, currency: unknown): number | null {
  if (!Array.isArray(list)) return null
  let total = 0
  for (const part of list) {
    const value = moneyIn(at(part, 'amount'), currency)?.value
    if (value === undefined || !Number.isSafeInteger(total + value)) return null
    total += value
  }
  return total
}

function taxIdsOf(list: unknown, cut: Cut) {
  if (!Array.isArray(list)) return null
  return firstOf(list, MAX_TAX_IDS, cut).map(({ type, value }) => ({ type: word(type), value: word(value) }))
}

function linesOf({ lines }: Json, cut: Cut) {
  if (!Array.isArray(at(lines, 'data'))) return null
  const missing: Cut = { any: false }
  noteMissing(lines, missing)
  const data = firstOf(at(lines, 'data'), MAX_LINES, missing).map(lineOf)
  if (missing.any) cut.any = true
  return { data, has_more: missing.any }
}

function lineOf(line: Json) {
  const { price, plan, pricing, parent } = line
  const currency = line.currency
  const details = at(parent, 'subscription_item_details') ?? at(parent, 'invoice_item_details')
  return {
    id: word(line.id),
    description: prose(line.description, MAX_LINE_TEXT_BYTES),
    price: wordOf(at(pricing, 'price_details', 'price')) ?? wordOf(price) ?? wordOf(plan),
    product:
      wordOf(at(pricing, 'price_details', 'product')) ?? wordOf(at(price, 'product')) ?? wordOf(at(plan, 'product')),
    quantity: integer(line.quantity),
    amount: moneyIn(line.amount, currency)?.value ?? null,
    discount_amount: addedUp(line.discount_amounts, currency),
    tax: addedUp(line.taxes, currency) ?? addedUp(line.tax_amounts, currency),
    period_start: isoSeconds(at(line, 'period', 'start')),
    period_end: isoSeconds(at(line, 'period', 'end')),
    proration: flag(at(details, 'proration')) ?? flag(line.proration),
    subscription_item: wordOf(at(details, 'subscription_item')) ?? wordOf(line.subscription_item),
  }
}
