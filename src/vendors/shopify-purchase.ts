import { boundedMetadata, type Cut, firstOf, link, prose, upperCurrency, word } from './lib/bounded'
import { at, type Json, numericId, objects, text } from './lib/json'
import { decimal } from './lib/money'
import { isId } from './lib/read'
import { isoTime } from './lib/time'
import { MAX_LINE_TEXT_BYTES, MAX_LINES, MAX_OBJECTS_OF_EVENT } from './limits'
import { knownStatus } from './objects'
import { PARTS, type SoldItem } from './purchase'
import { type MadePart, type PartOrder, partSnapshot, saleWith, soldItem } from './purchase-parts'
import { disputeOf, disputeTime, refundSnapshot } from './shopify-money'
import { attributesOf, shopifyId } from './shopify-shared'
import { EVENT_STEPS, type PartSnapshot } from './snapshot'
import type { DecodedEvent } from './vendor'
import { fullName } from './whole'

/** What a topic's payload is about: an order, or what happens to its money. `order`: its id. */
type About = { what: 'order' | 'refund' | 'dispute'; order: string }

const ORDER_TOPIC = /^orders\/(create|paid|updated|cancelled|fulfilled|partially_fulfilled)$/
/** Orders that a subscription makes by itself: `subscription_contract`, and since October 2025 also `subscription_contract_checkout_one`. */
const RENEWAL = /^subscription_contract/

/**
 * What an event of Shopify's says about a purchase; null if it says nothing. The topic is not signed. The payload's own id says what kind of
 * object it is, except that of a dispute.
 * https://shopify.dev/docs/api/admin-rest/latest/resources/order
 */
export function aboutOrder(topic: string, object: Json): About | null {
  const isOf = (kind: string) => (text(object.admin_graphql_api_id) ?? kind).includes(kind)
  const known = (what: About['what'], order: string | null) => (isId(order) ? { what, order } : null)
  if (ORDER_TOPIC.test(topic) && isOf('/Order/'))
    return RENEWAL.test(text(object.source_name) ?? '') ? null : known('order', shopifyId(object))
  const order = numericId(object.order_id)
  if (word(shopifyId(object)) === null) return null
  if (topic === 'refunds/create' && isOf('/Refund/')) return known('refund', order)
  return /^disputes\/(create|update)$/.test(topic) ? known('dispute', order) : null
}

/** What an event says about a purchase, as parts of it. */
export function shopifySnapshots(
  object: Json,
  event: Pick<DecodedEvent, 'event_type' | 'occurred_at'>,
): PartSnapshot[] {
  const about = aboutOrder(event.event_type, object)
  if (about === null) return []
  const { what, order } = about
  // Events of one second: the header tells their order. It is not signed, so it decides nothing else.
  const orderBy = (time: string | null): PartOrder => ({
    occurred_at: time,
    updated_at: event.occurred_at,
    step: EVENT_STEPS.updated,
  })
  const refund = (one: Json) => refundSnapshot(order, one, what === 'refund')
  if (what === 'refund') return [refund(object)]
  if (what === 'dispute') return [partSnapshot(orderBy(disputeTime(object)), disputeOf(order, object))]
  const cut: Cut = { any: false }
  const refunds = firstOf(object.refunds, MAX_OBJECTS_OF_EVENT, cut).filter((one) => word(shopifyId(one)) !== null)
  const sale = orderSaleOf(order, object, cut)
  return [partSnapshot(orderBy(sale.body.updated_at), sale), ...refunds.map(refund)]
}

const ORDER = {
  pending: 'pending',
  authorized: 'pending',
  partially_paid: 'pending',
  paid: 'paid',
  partially_refunded: 'paid',
  refunded: 'refunded',
  voided: 'canceled',
  expired: 'canceled',
} as const

/** An order. One that is canceled keeps its payment until that is refunded. It does not say when it was paid. */
function orderSaleOf(id: string, object: Json, cut: Cut): MadePart {
  const amount = (value: unknown) => decimal(value, object.currency)?.value ?? null
  const { customer } = object
  const said = word(object.financial_status)
  const status = knownStatus(said, ORDER)
  const created_at = isoTime(object.created_at)
  const body = saleWith({
    status: status === 'pending' && isoTime(object.cancelled_at) !== null ? 'canceled' : status,
    vendor_status: said,
    customer: word(numericId(at(customer, 'id'))),
    livemode: typeof object.test === 'boolean' ? !object.test : null,
    created_at,
    updated_at: isoTime(object.updated_at),
    metadata: boundedMetadata(attributesOf(object), cut),
    number: word(object.name),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal_price),
    discount_amount: amount(object.total_discounts),
    tax: amount(object.total_tax),
    total: amount(object.total_price),
    paid_at: isoTime(object.processed_at) ?? created_at,
    items: Array.isArray(object.line_items)
      ? firstOf(object.line_items, MAX_LINES, cut).map((line) => itemOf(line, object.currency))
      : null,
    receipt_url: link(object.order_status_url),
    customer_email: word(object.email) ?? word(object.contact_email),
    customer_name: prose(fullName(at(customer, 'first_name'), at(customer, 'last_name'))),
  })
  return { id, part: PARTS.sale, body, cut }
}

/** Its amount is without its discounts, and with taxes where the prices of the shop include them. */
function itemOf(line: Json, currency: unknown): SoldItem {
  const quantity = Number.isSafeInteger(line.quantity) ? (line.quantity as number) : null
  const discounts = objects(line.discount_allocations).map(
    ({ amount }) => decimal(amount, currency)?.value ?? Number.NaN,
  )
  const gross = (decimal(line.price, currency)?.value ?? Number.NaN) * (quantity ?? Number.NaN)
  const amount = discounts.reduce((left, one) => left - one, gross)
  return soldItem({
    id: word(numericId(line.id)),
    description: prose(line.name ?? line.title, MAX_LINE_TEXT_BYTES),
    price: word(numericId(line.variant_id)),
    product: word(numericId(line.product_id)),
    quantity,
    amount: Number.isSafeInteger(amount) ? amount : null,
  })
}
