import { chargebeeAmount } from './chargebee-subscription'
import { firstOf, prose, word } from './lib/bounded'
import { integer, type Json, objects, text } from './lib/json'
import { isId } from './lib/read'
import { isoSeconds } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { type Bodies, knownStatus } from './objects'
import { PARTS, partNamed, type RefundStatus, type SoldItem } from './purchase'
import { type MadePart, saleWith, soldItem } from './purchase-parts'
import type { From } from './whole'

const SALE = {
  posted: 'pending',
  payment_due: 'pending',
  not_paid: 'failed',
  voided: 'canceled',
  paid: 'paid',
} as const

/**
 * The sale that an invoice is, if it has lines that are charged once. That of a renewal has none. A draft may still change, and its id may too.
 * https://apidocs.chargebee.com/docs/api/invoices#invoice_attributes
 *
 * @param billed the same invoice as the vendor's file for invoices reads it
 */
export function chargebeeSale({ object, common }: From, billed: Bodies['invoice']): MadePart[] {
  const cut = { any: text(object.line_items_next_offset) !== null }
  const all = objects(object.line_items)
  const lines = firstOf(all.filter(isChargedOnce), MAX_LINES, cut)
  const id = word(object.id)
  if (lines.length === 0 || id === null || object.status === 'pending') return []
  const { created_at, number, currency, subtotal, discount_amount, tax, total, customer_name } = billed
  const isGone = object.deleted === true || isForgiven(object)
  const body = saleWith({
    ...common,
    ...{ created_at, number, currency, subtotal, discount_amount, tax, total, customer_name },
    status: isGone ? 'canceled' : knownStatus(common.vendor_status, SALE),
    // The time of the event is that of any later change.
    paid_at: billed.paid_at ?? created_at,
    items: lines.map((line) => itemOf(line, object)),
    invoice: id,
    subscription:
      billed.subscription ?? all.map((line) => word(line.subscription_id)).find((one) => one !== null) ?? null,
  })
  return [{ id, part: PARTS.sale, body, cut }]
}

/**
 * Whether a line is charged once. In the older catalog, that of an addon looks the same whether it is charged once or in each term: the latter
 * has a period.
 */
function isChargedOnce({ entity_type: type, date_from, date_to, amount, proration_mode }: Json): boolean {
  const isOnce =
    type === 'adhoc' ||
    type === 'charge_item_price' ||
    (type === 'addon' && integer(date_from) !== null && date_from === date_to)
  return isOnce && (integer(amount) ?? 0) >= 0 && text(proration_mode) === null
}

/** Whether nobody paid an invoice that is paid: it was written off, or adjusted by credit notes. */
function isForgiven({ status, total, amount_adjusted, write_off_amount }: Json): boolean {
  const due = integer(total) ?? 0
  return status === 'paid' && due > 0 && (integer(amount_adjusted) ?? 0) + (integer(write_off_amount) ?? 0) >= due
}

function itemOf(line: Json, object: Json): SoldItem {
  return soldItem({
    id: word(line.id),
    description: prose(line.description, MAX_LINE_TEXT_BYTES),
    price: word(line.entity_id),
    quantity: integer(line.quantity),
    amount: totalOfLine(line, object),
  })
}

/** Less its discounts, and with its tax. */
function totalOfLine(line: Json, { currency_code, price_type }: Json): number | null {
  const amount = chargebeeAmount(line.amount, currency_code)
  if (amount === null) return null
  const tax = price_type === 'tax_inclusive' ? 0 : (integer(line.tax_amount) ?? 0)
  return amount - (integer(line.discount_amount) ?? 0) + tax
}

/**
 * The credit notes of an event that can give money back, each with the invoice that it is about. One of another type lowers what is due, or is
 * credit in a store.
 */
export function refundableNotes({ content }: Json): { id: string; object: Json }[] {
  const { credit_note: one, credit_notes: more } = (content ?? {}) as Json
  return objects([one, ...objects(more)])
    .filter(({ id, type }) => type === 'refundable' && word(id) !== null)
    .map((object) => ({ id: text(object.reference_invoice_id) ?? '', object }))
    .filter(({ id }) => isId(id))
}

/**
 * What a credit note has given back. Until it is refunded, and where it pays other invoices, it is nothing.
 * https://apidocs.chargebee.com/docs/api/credit_notes#credit_note_attributes
 *
 * @param id of the invoice
 */
export function creditNoteRefund(id: string, { object, common }: Omit<From, 'cut' | 'type'>): MadePart {
  const refunded = chargebeeAmount(object.amount_refunded, object.currency_code)
  const isOver = object.deleted === true || object.status === 'voided'
  const isBack = (refunded ?? 0) > 0
  const status: RefundStatus = isOver ? 'canceled' : isBack ? 'succeeded' : 'pending'
  const isWhole = isBack && refunded === chargebeeAmount(object.total, object.currency_code)
  const { customer, updated_at } = common
  const body = {
    status,
    customer,
    updated_at,
    charge: null,
    amount: refunded,
    reason: word(object.reason_code) ?? word(object.create_reason_code),
    revokes_access: null,
    created_at: isoSeconds(object.generated_at) ?? isoSeconds(object.date),
    returned: isWhole ? returnedBy(object) : null,
  }
  return { id, part: partNamed('refund', word(object.id) ?? ''), body }
}

/** By the lines of the invoice, where the note names them. Its quantity is 1 where it is about a part of the amount. */
function returnedBy(object: Json) {
  const lines = objects(object.line_items).slice(0, MAX_LINES)
  const returned = lines.flatMap((line) => {
    const item = word(line.reference_line_item_id)
    return item === null ? [] : [{ item, amount: totalOfLine(line, object), quantity: null, whole: null }]
  })
  return returned.length === 0 ? null : returned
}
