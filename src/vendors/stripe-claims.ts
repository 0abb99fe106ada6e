import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { guestOf } from './guest'
import { at, idOf, type Json, text } from './lib/json'

/** The events of a checkout that is completed. Anybody can open one, for any address, and it costs nothing. */
const PAID = /^checkout\.session\.(completed|async_payment_succeeded)$/

/**
 * The claims of an event of Stripe's. A buyer can choose `client_reference_id`, because it is a parameter of a payment
 * link. So metadata, which the project's server writes, comes first.
 * https://docs.stripe.com/payment-links/url-parameters
 */
export function stripeClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  const object = at(event, 'data', 'object')
  const type = text(event.type) ?? ''
  const values = claimedValues(at(object, 'metadata'), keys)
  if (/^customer\.(created|updated|deleted)$/.test(type) && at(object, 'object') === 'customer') {
    return claimsOf(text(at(object, 'id')), values, 'customer')
  }
  const customer = idOf(at(object, 'customer'))
  if (type.startsWith('checkout.session.')) {
    if (!PAID.test(type) || text(at(object, 'payment_status')) === 'unpaid') return []
    // A buyer chooses the reference. A guest can repeat a checkout that costs nothing, and fill up somebody else's consumer.
    const isFreeGuest = customer === null && text(at(object, 'payment_status')) === 'no_payment_required'
    const reference = isFreeGuest ? null : text(at(object, 'client_reference_id'))
    return claimsOf(customer ?? guestIn(object), reference === null ? values : [...values, reference], 'checkout')
  }
  // A payment without a checkout and without a customer: that of a renewal has one.
  const payment = text(at(object, 'id'))
  if (type === 'payment_intent.succeeded' && customer === null && payment !== null) {
    return claimsOf(guestOf(payment), values, 'checkout')
  }
  return type.startsWith('customer.subscription.') ? claimsOf(customer, values, 'checkout') : []
}

/** Who paid once without being a customer. A checkout that made an invoice has a customer. */
function guestIn(session: unknown): string | null {
  const payment = idOf(at(session, 'payment_intent')) ?? text(at(session, 'id'))
  return text(at(session, 'mode')) === 'payment' && payment !== null ? guestOf(payment) : null
}
