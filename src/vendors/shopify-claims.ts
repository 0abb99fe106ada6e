import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { at, type Json, numericId } from './lib/json'
import { attributesOf } from './shopify-shared'

const PAID: unknown[] = ['paid', 'partially_refunded', 'refunded']

/**
 * The claims of an event of Shopify's: the attributes of a paid order, which are those of its cart. A buyer can change them. Only orders have a
 * financial status.
 * https://shopify.dev/docs/api/ajax/reference/cart
 */
export function shopifyClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  if (!PAID.includes(event.financial_status)) return []
  return claimsOf(numericId(at(event, 'customer', 'id')), claimedValues(attributesOf(event), keys), 'checkout')
}
