import { guestOf } from './guest'
import {
  boundedMetadata,
  type Cut,
  firstOf,
  link,
  noteMissing,
  prose,
  upperCurrency,
  word,
  wordOf,
} from './lib/bounded'
import { at, flag, integer, isObject, type Json } from './lib/json'
import { moneyIn } from './lib/money'
import { isId } from './lib/read'
import { isoSeconds } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { PARTS, type SalePart, type SoldItem } from './purchase'
import { ITEM_KEYS, itemsOfMetadata, type MadePart, partSnapshot, saleWith, soldItem } from './purchase-parts'
import type { PartSnapshot } from './snapshot'
import { addedUp } from './stripe-invoice'
import { charge, dispute, linkPart, paymentOf, refund } from './stripe-money'
import { isInvoiceReport, orderOf } from './stripe-shared'

/**
 * The parts of purchases that an event of Stripe's describes. A charge or a PaymentIntent by itself sells nothing: those of a subscription's
 * renewal look the same. Money that comes back is kept with its payment, until a sale or an invoice of that payment is known.
 */
export function stripeParts(event: Json, object: Json, itemKeys: readonly string[] = ITEM_KEYS): PartSnapshot[] {
  const made = madeOf({
    type: String(event.type),
    object,
    previous: at(event, 'data', 'previous_attributes'),
    updated_at: isoSeconds(event.created),
    livemode: flag(event.livemode),
    itemKeys,
  }).filter(({ id }) => isId(id))
  if (made.length === 0) return []
  const order = orderOf(event, object)
  return made.map((one) => partSnapshot(order, one))
}

/** Not one of Stripe's: the type of event that stands for a checkout that was fetched with its items. */
export const ITEMS_READ = 'checkout.session.items_read'

type Of = {
  type: string
  object: Json
  previous: unknown
  updated_at: string | null
  livemode: boolean | null
  itemKeys: readonly string[]
}

/** By the type of the object, and by the events in which it says something new. */
function madeOf(of: Of): MadePart[] {
  const { type, object } = of
  switch (object.object) {
    case 'checkout.session':
      if (type === ITEMS_READ) return itemsPart(of)
      return /^checkout\.session\.(completed|async_payment_(succeeded|failed))$/.test(type) ? session(of) : []
    case 'payment_intent':
      return type === 'payment_intent.succeeded' ? intent(of) : []
    case 'invoice_payment':
      return type === 'invoice_payment.paid' ? invoicePayment(of) : []
    case 'invoice':
      return type.startsWith('invoice.') ? invoiceSale(of) : []
    case 'refund':
      return /^refund\.(created|updated|failed)$/.test(type) || type === 'charge.refund.updated' ? refund(of) : []
    case 'dispute':
      return type.startsWith('charge.dispute.') ? dispute(of) : []
    case 'charge':
      return type.startsWith('charge.') ? charge(of) : []
    default:
      return []
  }
}

/** What all sales of Stripe's have. */
function commonOf({ object, updated_at, livemode }: Of, cut: Cut) {
  return {
    customer: wordOf(object.customer),
    livemode,
    created_at: isoSeconds(object.created) ?? isoSeconds(object.date),
    updated_at,
    metadata: boundedMetadata(object.metadata, cut),
    currency: upperCurrency(object.currency),
  }
}

/**
 * A checkout that is completed. One that made an invoice is a sale by that invoice. No event has its items.
 * https://docs.stripe.com/api/checkout/sessions/object
 */
function session(of: Of): MadePart[] {
  const { type, object } = of
  const payment = wordOf(object.payment_intent)
  const invoice = wordOf(object.invoice)
  if (object.mode !== 'payment') return []
  if (invoice !== null) return payment === null ? [] : [linkPart(payment, invoice, linked(of))]
  const cut: Cut = { any: false }
  const vendor_status = word(object.payment_status)
  const amount = (value: unknown) => moneyIn(value, object.currency)?.value ?? null
  const status = statusOf(vendor_status, type)
  const id = payment ?? word(object.id) ?? ''
  const body = saleWith({
    ...commonOf(of, cut),
    customer: buyerOf(object, id),
    status,
    vendor_status,
    items: itemsOfSession(object, cut) ?? itemsOfMetadata(object.metadata, of.itemKeys) ?? itemsOfLink(object),
    subtotal: amount(object.amount_subtotal),
    discount_amount: amount(at(object, 'total_details', 'amount_discount')),
    tax: amount(at(object, 'total_details', 'amount_tax')),
    total: amount(object.amount_total),
    customer_email: word(at(object, 'customer_details', 'email')) ?? word(object.customer_email),
    customer_name: prose(at(object, 'customer_details', 'name')),
  })
  return [
    {
      id,
      part: PARTS.sale,
      body,
      terminal: status === 'paid' || status === 'failed',
      cut,
    },
  ]
}

/** What a checkout sold, as it was fetched. That no longer changes, and the fetch says nothing else: only events say when it was paid. */
function itemsPart(of: Of): MadePart[] {
  const { object, updated_at } = of
  const cut: Cut = { any: false }
  const id = wordOf(object.payment_intent) ?? word(object.id) ?? ''
  const items = itemsOfSession(object, cut)
  if (items === null || object.mode !== 'payment') return []
  return [{ id, part: PARTS.items, body: { status: 'items', customer: buyerOf(object, id), updated_at, items }, cut }]
}

/** The customer, or the guest: in a checkout of a payment, Stripe makes a customer only if it is asked to. */
const buyerOf = (object: Json, payment: string) => wordOf(object.customer) ?? guestOf(payment)

/** Only the event says that a payment that takes days has failed. */
function statusOf(payment: string | null, type: string): SalePart['status'] {
  if (payment === 'paid' || payment === 'no_payment_required') return 'paid'
  if (payment !== 'unpaid') return 'unknown'
  return type === 'checkout.session.async_payment_failed' ? 'failed' : 'pending'
}

const linked = ({ object, updated_at }: Of) => ({ customer: wordOf(object.customer), updated_at })

/** Where the items were expanded. */
function itemsOfSession(object: Json, cut: Cut): SoldItem[] | null {
  const data = at(object, 'line_items', 'data')
  if (!Array.isArray(data)) return null
  noteMissing(object.line_items, cut)
  return firstOf(data, MAX_LINES, cut).map((line) =>
    soldItem({
      id: word(line.id),
      description: prose(line.description, MAX_LINE_TEXT_BYTES),
      price: wordOf(line.price),
      product: wordOf(at(line, 'price', 'product')),
      quantity: integer(line.quantity),
      amount: moneyIn(line.amount_total, line.currency)?.value ?? null,
    }),
  )
}

/** A payment link sells what it always sells, so a plan can name the link. How many of it were bought is not known. */
function itemsOfLink(session: Json): SoldItem[] | null {
  const price = wordOf(session.payment_link)
  return price === null ? null : [soldItem({ price })]
}

/** A payment whose metadata says what it is for. An old one that names an invoice is paid for that. */
function intent(of: Of): MadePart[] {
  const { object } = of
  const items = itemsOfMetadata(object.metadata, of.itemKeys)
  if (items === null || wordOf(object.invoice) !== null) return []
  const cut: Cut = { any: false }
  const id = word(object.id) ?? ''
  const body = saleWith({
    ...commonOf(of, cut),
    customer: buyerOf(object, id),
    status: 'paid',
    vendor_status: word(object.status),
    items,
    description: prose(object.description),
    total: moneyIn(object.amount_received ?? object.amount, object.currency)?.value ?? null,
    payment_method: wordOf(object.payment_method),
    customer_email: word(object.receipt_email),
  })
  return [{ id, part: PARTS.intent, body, terminal: true, cut }]
}

/** https://docs.stripe.com/api/invoice-payment/object */
function invoicePayment(of: Of): MadePart[] {
  const payment = isObject(of.object.payment) ? paymentOf(of.object.payment) : null
  const invoice = wordOf(of.object.invoice)
  return payment === null || invoice === null ? [] : [linkPart(payment, invoice, linked(of))]
}

/** A paid invoice with one-time lines. That of a renewal has none. Before 2025-03-31, it names its payment. */
function invoiceSale(of: Of): MadePart[] {
  const { type, object, previous } = of
  const id = word(object.id)
  if (id === null || object.status !== 'paid') return []
  const cut: Cut = { any: false }
  const lines = firstOf(at(object, 'lines', 'data'), MAX_LINES, cut).filter(isOneTime)
  if (lines.length === 0) return []
  noteMissing(object.lines, cut)
  const amount = (value: unknown) => moneyIn(value, object.currency)?.value ?? null
  const body = saleWith({
    ...commonOf(of, cut),
    status: 'paid',
    vendor_status: 'paid',
    items: lines.map(itemOf),
    number: word(object.number),
    description: prose(object.description),
    subtotal: amount(object.subtotal),
    discount_amount: addedUp(object.total_discount_amounts, object.currency),
    tax:
      addedUp(object.total_taxes, object.currency) ??
      amount(object.tax) ??
      addedUp(object.total_tax_amounts, object.currency),
    total: amount(object.total),
    paid_at: isoSeconds(at(object, 'status_transitions', 'paid_at')),
    invoice: id,
    subscription: wordOf(at(object, 'parent', 'subscription_details', 'subscription')) ?? wordOf(object.subscription),
    hosted_url: link(object.hosted_invoice_url),
    customer_email: word(object.customer_email),
    customer_name: prose(object.customer_name),
  })
  const payment = wordOf(object.payment_intent) ?? wordOf(object.charge)
  return [
    { id, part: PARTS.sale, body, terminal: true, reports: isInvoiceReport(type, previous), cut },
    ...(payment === null ? [] : [linkPart(payment, id, linked(of))]),
  ]
}

/** Since 2025-03-31 a line says what it comes from. Before, its price says whether it is for once. */
function isOneTime(line: Json): boolean {
  const details = at(line, 'parent', 'invoice_item_details')
  const isItem = isObject(details) || line.type === 'invoiceitem'
  const isRecurring = at(line, 'price', 'type') === 'recurring'
  const isProration = at(details, 'proration') === true || line.proration === true
  const value = moneyIn(line.amount, line.currency)?.value
  return isItem && !isRecurring && !isProration && (value === undefined || value >= 0)
}

function itemOf(line: Json): SoldItem {
  return soldItem({
    id: word(line.id),
    description: prose(line.description, MAX_LINE_TEXT_BYTES),
    price: wordOf(at(line, 'pricing', 'price_details', 'price')) ?? wordOf(line.price),
    product: wordOf(at(line, 'pricing', 'price_details', 'product')) ?? wordOf(at(line, 'price', 'product')),
    quantity: integer(line.quantity),
    amount: moneyIn(line.amount, line.currency)?.value ?? null,
  })
}
