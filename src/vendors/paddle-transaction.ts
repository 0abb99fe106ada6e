import { type Cut, firstOf, link, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, isObject, type Json, objects } from './lib/json'
import { moneyIn } from './lib/money'
import { isoTime } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { knownStatus } from './objects'
import { collectionOf, discountOf, type Paddle } from './paddle-shared'
import type { Made } from './snapshot'

const TRANSACTION = {
  draft: 'draft',
  ready: 'draft',
  billed: 'open',
  past_due: 'open',
  paid: 'paid',
  completed: 'paid',
  canceled: 'void',
} as const

/**
 * A transaction as an invoice. `grand_total` is after credits and before payments; `balance` is what remains to be paid.
 * https://developer.paddle.com/api-reference/transactions/overview
 */
export function transaction({ data, common, cut }: Paddle): Made<'invoice'> {
  const status = knownStatus(common.vendor_status, TRANSACTION)
  const totals = at(data, 'details', 'totals')
  const currency = at(totals, 'currency_code') ?? data.currency_code
  const amount = (field: string) => moneyIn(at(totals, field), currency)?.value ?? null
  const due = amount('grand_total')
  const balance = amount('balance')
  const body = {
    ...common,
    status,
    number: word(data.invoice_number),
    description: null,
    subscription: word(data.subscription_id),
    currency: upperCurrency(currency),
    subtotal: amount('subtotal'),
    discount_amount: amount('discount'),
    tax: amount('tax'),
    total: amount('total'),
    amount_due: due,
    amount_paid: due !== null && balance !== null ? due - balance : null,
    amount_remaining: balance,
    starting_balance: null,
    ending_balance: null,
    pre_payment_credit_notes_amount: null,
    post_payment_credit_notes_amount: null,
    discounts: data.discount_id === undefined ? null : discountOf({ id: data.discount_id }),
    lines: linesOf(data, currency, cut),
    billing_reason: word(data.origin),
    collection_method: collectionOf(data.collection_mode),
    period_start: isoTime(at(data, 'billing_period', 'starts_at')),
    period_end: isoTime(at(data, 'billing_period', 'ends_at')),
    finalized_at: isoTime(data.billed_at),
    due_at: null,
    paid_at: status === 'paid' ? capturedAt(data.payments) : null,
    voided_at: null,
    uncollectible_at: null,
    attempt_count: Array.isArray(data.payments) ? data.payments.length : null,
    next_payment_attempt: null,
    payment_intent: null,
    charge: null,
    default_payment_method: null,
    receipt_number: null,
    hosted_url: link(at(data, 'checkout', 'url')),
    pdf_url: null,
    customer_email: null,
    customer_name: null,
    customer_address: null,
    customer_tax_exempt: null,
    customer_tax_ids: null,
  }
  return { body, terminal: status === 'paid' || status === 'void' }
}

/** When the last of its payments was captured. Times of one vendor in UTC sort as text, without their `Z`. */
export function capturedAt(payments: unknown): string | null {
  const times = objects(payments).map(({ captured_at }) => isoTime(captured_at))
  const sorted = times.filter((time) => time !== null).sort((a, b) => (a.slice(0, -1) < b.slice(0, -1) ? -1 : 1))
  return sorted.at(-1) ?? null
}

function linesOf(data: Json, currency: unknown, cut: Cut) {
  const list = at(data, 'details', 'line_items')
  if (!Array.isArray(list)) return null
  const missing: Cut = { any: false }
  const shown = firstOf(list, MAX_LINES, missing).map((line) => lineOf(line, data, currency))
  if (missing.any) cut.any = true
  return { data: shown, has_more: missing.any }
}

function lineOf(line: Json, { billing_period }: Json, currency: unknown) {
  const amount = (field: string) => moneyIn(at(line, 'totals', field), currency)?.value ?? null
  const period = at(line, 'proration', 'billing_period') ?? billing_period
  return {
    id: word(line.id),
    description: prose(at(line, 'product', 'name'), MAX_LINE_TEXT_BYTES),
    price: word(line.price_id),
    product: word(at(line, 'product', 'id')),
    quantity: integer(line.quantity),
    amount: amount('subtotal'),
    discount_amount: amount('discount'),
    tax: amount('tax'),
    period_start: isoTime(at(period, 'starts_at')),
    period_end: isoTime(at(period, 'ends_at')),
    proration: isObject(line.proration),
    subscription_item: null,
  }
}
