import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { at, type Json, numericId, text } from './lib/json'

/**
 * The claims of an event of Lemon Squeezy's. Custom data is in the address of a checkout, where the buyer can change it. An order or a
 * subscription has it only after the checkout is completed.
 * https://docs.lemonsqueezy.com/help/checkout/passing-custom-data
 */
export function lemonsqueezyClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  const name = text(at(event, 'meta', 'event_name')) ?? ''
  const attributes = at(event, 'data', 'attributes')
  const isPaid = ['paid', 'refunded', 'partial_refund'].includes(text(at(attributes, 'status')) ?? '')
  const needsPayment = name.startsWith('order_') || name.startsWith('subscription_payment_')
  if (!/^(order|subscription)_/.test(name) || (needsPayment && !isPaid)) return []
  const values = claimedValues(at(event, 'meta', 'custom_data'), keys)
  return claimsOf(numericId(at(attributes, 'customer_id')), values, 'checkout')
}
