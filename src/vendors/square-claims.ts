import { type CustomerClaim, claimsOf } from './claim'
import { at, type Json, text } from './lib/json'

/**
 * The claim of an event of Square's: the customer's `reference_id`, which only the project's server writes.
 * https://developer.squareup.com/reference/square/objects/Customer
 */
export function squareClaims(event: Json): CustomerClaim[] {
  if (!/^customer\.(created|updated|deleted)$/.test(text(event.type) ?? '')) return []
  const customer = at(event, 'data', 'object', 'customer')
  const reference = text(at(customer, 'reference_id'))
  return claimsOf(
    text(at(event, 'data', 'id')) ?? text(at(customer, 'id')),
    reference === null ? [] : [reference],
    'customer',
  )
}
