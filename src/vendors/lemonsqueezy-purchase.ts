import { link, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, isObject, numericId, text } from './lib/json'
import { cents } from './lib/money'
import { MAX_LINE_TEXT_BYTES } from './limits'
import { knownStatus } from './objects'
import { PARTS } from './purchase'
import { type MadePart, saleWith, soldItem } from './purchase-parts'
import type { From } from './whole'

const ORDER = {
  pending: 'pending',
  failed: 'failed',
  paid: 'paid',
  refunded: 'refunded',
  partial_refund: 'paid',
} as const

/**
 * An order. The first one of a subscription looks the same, so an item has no product: a plan that has the product by a subscription would be
 * given twice. The status stays `paid` after a refund of a part.
 * https://docs.lemonsqueezy.com/api/orders/the-order-object
 */
export function orderSold(id: string, { object, common }: Omit<From, 'cut' | 'type'>): MadePart {
  const amount = (value: unknown) => cents(value, object.currency)?.value ?? null
  const first = object.first_order_item
  const body = saleWith({
    ...common,
    status: knownStatus(common.vendor_status, ORDER),
    number: word(numericId(object.order_number)),
    currency: upperCurrency(object.currency),
    subtotal: amount(object.subtotal),
    discount_amount: amount(object.discount_total),
    tax: amount(object.tax),
    total: amount(object.total),
    // It does not say when it was paid.
    paid_at: common.created_at,
    items: isObject(first)
      ? [
          soldItem({
            id: word(numericId(first.id)),
            description: prose(at(first, 'product_name'), MAX_LINE_TEXT_BYTES),
            price: word(numericId(first.price_id)),
            variant: word(numericId(first.variant_id)),
            quantity: integer(first.quantity) ?? 1,
            amount: amount(first.price),
          }),
        ]
      : null,
    refunded: amount(object.refunded_amount),
    receipt_url: link(at(object, 'urls', 'receipt')),
    customer_email: word(object.user_email),
    customer_name: prose(text(object.user_name)),
  })
  return { id, part: PARTS.sale, body }
}
