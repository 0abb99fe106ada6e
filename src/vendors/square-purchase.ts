import { link, prose, upperCurrency, word } from './lib/bounded'
import { at, type Json, text } from './lib/json'
import { moneyIn } from './lib/money'
import { isId } from './lib/read'
import { isoTime } from './lib/time'
import { versionOf } from './lib/version'
import { knownStatus } from './objects'
import { PARTS, partNamed } from './purchase'
import { type MadePart, partSnapshot, saleWith, soldItem } from './purchase-parts'
import { EVENT_STEPS, type PartSnapshot } from './snapshot'
import { fullName } from './whole'

/**
 * The payment whose purchase an event is about; null if it is about none. A payment of Square Invoices is one of an invoice, which may be that of
 * a subscription. One that is not completed is no sale yet.
 */
export function squarePayment(type: string, object: Json): string | null {
  const isSold = object.status === 'COMPLETED' && at(object, 'application_details', 'square_product') !== 'INVOICES'
  const payment = type.startsWith('payment.')
    ? isSold && object.id
    : type.startsWith('refund.')
      ? object.payment_id
      : type.startsWith('dispute.') && text(object.state) !== null && at(object, 'disputed_payment', 'payment_id')
  return word(object.id) !== null && isId(payment) ? payment : null
}

/** What an event says about the purchase that a payment is. @param livemode of the delivery: the mode is only in a header */
export function squarePart(payment: string, event: Json, object: Json, livemode: boolean | null): PartSnapshot {
  const type = String(event.type)
  const updated_at = isoTime(object.updated_at) ?? isoTime(event.created_at)
  const step = type.endsWith('.created') ? EVENT_STEPS.created : EVENT_STEPS.updated
  const made = type.startsWith('payment.')
    ? paymentSale(payment, object, { updated_at, livemode })
    : type.startsWith('refund.')
      ? paymentRefund(payment, object, updated_at)
      : paymentDispute(payment, object, updated_at)
  return partSnapshot({ version: versionOf(object.version), occurred_at: updated_at, updated_at: null, step }, made)
}

const amountOf = (money: unknown) => moneyIn(at(money, 'amount'), at(money, 'currency'))?.value ?? null

/**
 * A payment names its order, but not what is in it. The reference is what the server that took the payment has given it.
 * https://developer.squareup.com/reference/square/objects/Payment
 */
function paymentSale(
  id: string,
  object: Json,
  known: { updated_at: string | null; livemode: boolean | null },
): MadePart {
  const { card_details: card, billing_address: address } = object
  const created_at = isoTime(object.created_at)
  const reference = word(object.reference_id)
  const body = saleWith({
    ...known,
    status: 'paid',
    vendor_status: word(object.status),
    customer: word(object.customer_id),
    created_at,
    number: word(object.receipt_number),
    description: prose(object.note),
    currency: upperCurrency(at(object.total_money, 'currency')),
    subtotal: amountOf(object.amount_money),
    total: amountOf(object.total_money),
    paid_at: isoTime(at(card, 'card_payment_timeline', 'captured_at')) ?? created_at,
    items: reference === null ? null : [soldItem({ price: reference })],
    refunded: amountOf(object.refunded_money),
    payment_method: word(at(card, 'card', 'id')),
    receipt_url: link(object.receipt_url),
    customer_email: word(object.buyer_email_address),
    customer_name: prose(fullName(at(address, 'first_name'), at(address, 'last_name'))),
  })
  return { id, part: PARTS.sale, body }
}

const REFUND = { PENDING: 'pending', COMPLETED: 'succeeded', REJECTED: 'failed', FAILED: 'failed' } as const

/** https://developer.squareup.com/reference/square/objects/PaymentRefund */
function paymentRefund(payment: string, object: Json, updated_at: string | null): MadePart {
  const status = knownStatus(word(object.status), REFUND)
  const body = {
    status,
    customer: null,
    updated_at,
    charge: null,
    amount: amountOf(object.amount_money),
    reason: prose(object.reason),
    revokes_access: null,
    created_at: isoTime(object.created_at),
    returned: null,
  }
  return { id: payment, part: partNamed('refund', word(object.id) ?? ''), body, terminal: status === 'failed' }
}

const DISPUTE = {
  INQUIRY_EVIDENCE_REQUIRED: 'inquiry',
  INQUIRY_PROCESSING: 'inquiry',
  INQUIRY_CLOSED: 'none',
  EVIDENCE_REQUIRED: 'open',
  PROCESSING: 'open',
  WON: 'won',
  LOST: 'lost',
  ACCEPTED: 'lost',
} as const

/** https://developer.squareup.com/reference/square/objects/Dispute */
function paymentDispute(payment: string, object: Json, updated_at: string | null): MadePart {
  const said = word(object.state)
  const body = {
    status: knownStatus(said, DISPUTE),
    customer: null,
    updated_at,
    vendor_status: said,
    amount: amountOf(object.amount_money),
    reason: word(object.reason),
    created_at: isoTime(object.created_at) ?? isoTime(object.reported_at),
    due_at: isoTime(object.due_at),
    reverses: false,
  }
  return { id: payment, part: partNamed('dispute', word(object.id) ?? ''), body }
}
