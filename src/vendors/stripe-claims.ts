import { type Claim, claimOf, firstValue } from './claim'
import { at, idOf, type Json, text } from './lib/read'

/** The events of a checkout that is completed. Others cost a buyer nothing, so anybody can cause them for any address. */
const PAID = /^checkout\.session\.(completed|async_payment_succeeded)$/

/**
 * The claims of an event of Stripe's. A buyer can choose `client_reference_id`, because it is a parameter of a payment
 * link. So metadata, which the project's server writes, comes first.
 * https://docs.stripe.com/payment-links/url-parameters
 */
export function stripeClaims(event: Json, keys: readonly string[]): Claim[] {
  const object = at(event, 'data', 'object')
  const type = text(event.type) ?? ''
  const value = firstValue(at(object, 'metadata'), keys)
  if (/^customer\.(created|updated|deleted)$/.test(type) && at(object, 'object') === 'customer') {
    return claimOf(text(at(object, 'id')), value, 'customer')
  }
  const customer = idOf(at(object, 'customer'))
  if (type.startsWith('checkout.session.')) {
    if (!PAID.test(type) || text(at(object, 'payment_status')) === 'unpaid') return []
    return claimOf(customer, value ?? text(at(object, 'client_reference_id')), 'checkout')
  }
  return type.startsWith('customer.subscription.') ? claimOf(customer, value, 'checkout') : []
}
