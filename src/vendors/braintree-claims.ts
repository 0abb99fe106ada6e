import { customerOf, transactionsOf } from './braintree-objects'
import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { at, isObject, type Json } from './lib/json'

/**
 * The claims of a notification of Braintree's: custom fields, which only the project's server writes, of the customer; or else of the
 * payments, newest first.
 * https://developer.paypal.com/braintree/docs/guides/custom-fields
 */
export function braintreeClaims(notification: Json, keys: readonly string[]): CustomerClaim[] {
  const subscription = at(notification, 'subject', 'subscription')
  const payments = transactionsOf(subscription)
  // XML writes `user_id` as `user-id`.
  const names = keys.flatMap((key) => [...new Set([key, key.replaceAll('_', '-')])])
  const valuesOf = (owner: unknown) => {
    const fields = at(owner, 'custom-fields')
    return isObject(fields) ? claimedValues(fields, names) : []
  }
  const customer = customerOf(subscription)
  return [
    ...claimsOf(
      customer,
      payments.flatMap((one) => valuesOf(one.customer)),
      'customer',
    ),
    ...claimsOf(customer, payments.flatMap(valuesOf), 'checkout'),
  ]
}
