import { link, word, wordOf } from './lib/bounded'
import { at, isObject, type Json } from './lib/json'
import { moneyIn } from './lib/money'
import { isoSeconds } from './lib/time'
import { knownStatus } from './objects'
import { PARTS, partNamed } from './purchase'
import type { MadePart } from './purchase-parts'

/** What names the payment that an object of Stripe's is about: its PaymentIntent, or, of old payments without one, its charge. */
export function paymentOf(object: Json): string | null {
  return wordOf(object.payment_intent) ?? wordOf(object.charge)
}

/** The times of an event that parts have. */
type Of = { type: string; object: Json; previous: unknown; updated_at: string | null }

/**
 * A charge with a refund. One without is left out, as is each renewal's. Before 2025-03-31, a charge names its invoice.
 * https://docs.stripe.com/api/charges/object
 */
export function charge({ type, object, previous, updated_at }: Of): MadePart[] {
  const id = word(object.id)
  const refunded = moneyIn(object.amount_refunded, object.currency)?.value ?? null
  const tells = type === 'charge.refunded' || (refunded ?? 0) > 0 || at(previous, 'amount_refunded') !== undefined
  if (id === null || !tells || !/^charge\.(refunded|updated)$/.test(type)) return []
  const payment = wordOf(object.payment_intent) ?? id
  const customer = wordOf(object.customer)
  const body = {
    status: 'charge' as const,
    customer,
    updated_at,
    refunded,
    payment_method: wordOf(object.payment_method),
    receipt_url: link(object.receipt_url),
  }
  const invoice = wordOf(object.invoice)
  return [
    { id: payment, part: partNamed('charge', id), body },
    ...(invoice === null ? [] : [linkPart(payment, invoice, { customer, updated_at })]),
  ]
}

/** Says that a payment paid an invoice. */
export function linkPart(
  id: string,
  to: string,
  { customer, updated_at }: { customer: string | null; updated_at: string | null },
): MadePart {
  return { id, part: PARTS.link, body: { status: 'link', customer, updated_at, to }, after: to }
}

/** https://docs.stripe.com/api/refunds/object */
const REFUND = {
  pending: 'pending',
  requires_action: 'pending',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
} as const

/** By its own status: an event that is called `refund.failed` may have one that succeeded. `charge.refund.updated` repeats `refund.updated`. */
export function refund({ type, object, previous, updated_at }: Of): MadePart[] {
  const [payment, id] = [paymentOf(object), word(object.id)]
  if (payment === null || id === null) return []
  const status = knownStatus(word(object.status), REFUND)
  const body = {
    status,
    customer: null,
    updated_at,
    charge: wordOf(object.charge),
    amount: moneyIn(object.amount, object.currency)?.value ?? null,
    reason: word(object.reason) ?? word(object.failure_reason),
    revokes_access: null,
    created_at: isoSeconds(object.created),
    returned: null,
  }
  const reports = type === 'charge.refund.updated' || (!isObject(previous) && !type.endsWith('.created'))
  return [
    {
      id: payment,
      part: partNamed('refund', id),
      body,
      terminal: status === 'failed' || status === 'canceled',
      reports,
    },
  ]
}

/** https://docs.stripe.com/api/disputes/object. Since 2026-10-28 one that is lost can be appealed. The money is gone meanwhile. */
const DISPUTE = {
  warning_needs_response: 'inquiry',
  warning_under_review: 'inquiry',
  warning_closed: 'none',
  prevented: 'none',
  charge_refunded: 'none',
  needs_response: 'open',
  under_review: 'open',
  won: 'won',
  lost: 'lost',
  appeal_needs_response: 'lost',
  appeal_under_review: 'lost',
} as const

export function dispute({ type, object, previous, updated_at }: Of): MadePart[] {
  const [payment, id] = [paymentOf(object), word(object.id)]
  if (payment === null || id === null) return []
  const vendor_status = word(object.status)
  const body = {
    status: knownStatus(vendor_status, DISPUTE),
    customer: null,
    updated_at,
    vendor_status,
    amount: moneyIn(object.amount, object.currency)?.value ?? null,
    reason: word(object.reason),
    created_at: isoSeconds(object.created),
    due_at: isoSeconds(at(object, 'evidence_details', 'due_by')),
    reverses: false,
  }
  const reports = !isObject(previous) && type !== 'charge.dispute.created'
  return [{ id: payment, part: partNamed('dispute', id), body, reports }]
}
