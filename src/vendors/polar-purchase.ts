import { type Cut, firstOf, prose, upperCurrency, word } from './lib/bounded'
import { at, flag, integer, isObject, type Json } from './lib/json'
import { cents } from './lib/money'
import { isId } from './lib/read'
import { isoTime } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { knownStatus } from './objects'
import { PARTS, partNamed } from './purchase'
import { type MadePart, saleWith, soldItem } from './purchase-parts'
import type { From } from './whole'

const ORDER = {
  draft: 'pending',
  pending: 'pending',
  paid: 'paid',
  partially_refunded: 'paid',
  refunded: 'refunded',
  void: 'canceled',
} as const

/**
 * An order that is not a subscription's. It knows how much was refunded, so it changes after it was paid.
 * https://docs.polar.sh/api-reference/orders/get
 */
export function orderSale({ object, common }: Omit<From, 'cut'>): MadePart[] {
  const cut: Cut = { any: false }
  const amount = (value: unknown) => cents(value, object.currency)?.value ?? null
  const back = amount(object.refunded_amount)
  const refunded = back === null ? null : back + (amount(object.refunded_tax_amount) ?? 0)
  const id = word(object.id) ?? ''
  if (object.billing_reason !== 'purchase') return (refunded ?? 0) > 0 ? [periodCharge(id, common, refunded)] : []
  const quantity = integer(object.seats)
  const product = word(object.product_id)
  const lines = firstOf(object.items, MAX_LINES, cut)
  const one = soldItem({ description: prose(at(object, 'product', 'name'), MAX_LINE_TEXT_BYTES), product, quantity })
  const items = lines.map((line) =>
    soldItem({
      id: word(line.id),
      description: prose(line.label, MAX_LINE_TEXT_BYTES),
      price: word(line.product_price_id),
      product,
      quantity,
      amount: amount(line.amount),
    }),
  )
  const body = saleWith({
    ...common,
    status: knownStatus(common.vendor_status, ORDER),
    number: word(object.invoice_number),
    description: prose(object.description),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal_amount),
    discount_amount: amount(object.discount_amount),
    tax: amount(object.tax_amount),
    total: amount(object.total_amount),
    // It does not say when it was paid.
    paid_at: common.created_at,
    items: items.length > 0 ? items : product === null ? null : [one],
    refunded,
    invoice: word(object.id),
    customer_email: word(at(object, 'customer', 'email')),
    customer_name: prose(object.billing_name),
  })
  return [{ id, part: PARTS.sale, body, cut }]
}

/**
 * What came back of a subscription's order, which is an invoice: so that the invoice shows it without the refund's event. An order without
 * any is left out, because each renewal would write a row: that a refund failed is known by its own event.
 */
function periodCharge(id: string, { customer, updated_at }: From['common'], refunded: number | null): MadePart {
  const body = { status: 'charge' as const, customer, updated_at, refunded, payment_method: null, receipt_url: null }
  return { id, part: partNamed('charge', id), body }
}

const REFUND = {
  pending: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
} as const
const DISPUTE = {
  prevented: 'none',
  early_warning: 'inquiry',
  needs_response: 'open',
  under_review: 'open',
  lost: 'lost',
  won: 'won',
} as const

/** A refund of an order, and the dispute that it settles. https://docs.polar.sh/api-reference/refunds/list */
export function refundParts({ object, common }: Omit<From, 'cut'>): MadePart[] {
  const [id, order] = [word(object.id), word(object.order_id)]
  if (id === null || order === null || !isId(order)) return []
  const { customer, updated_at, created_at, vendor_status } = common
  const money = (of: Json, currency: unknown) => {
    const net = cents(of.amount, currency)?.value
    return net === undefined ? null : net + (cents(of.tax_amount, currency)?.value ?? 0)
  }
  const status = knownStatus(vendor_status, REFUND)
  const body = {
    status,
    customer,
    updated_at,
    charge: null,
    amount: money(object, object.currency),
    reason: word(object.reason),
    revokes_access: flag(object.revoke_benefits),
    created_at,
    returned: null,
  }
  const refund = {
    id: order,
    part: partNamed('refund', id),
    body,
    terminal: status === 'failed' || status === 'canceled',
  }
  const disputed = isObject(object.dispute) ? object.dispute : null
  const disputeId = word(disputed?.id)
  if (disputed === null || disputeId === null) return [refund]
  const said = word(disputed.status)
  const dispute = {
    status: knownStatus(said, DISPUTE),
    customer,
    updated_at,
    vendor_status: said,
    amount: money(disputed, disputed.currency ?? object.currency),
    reason: null,
    created_at: isoTime(disputed.created_at) ?? created_at,
    due_at: null,
    reverses: false,
  }
  return [refund, { id: order, part: partNamed('dispute', disputeId), body: dispute }]
}
