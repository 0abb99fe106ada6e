import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { at, before, idOf, type Json, text } from './lib/json'

/** The statuses of an order that was paid. Opening a checkout costs a buyer nothing, so anybody can do it for any address. */
const PAID = ['paid', 'refunded', 'partially_refunded']

/**
 * The claims of an event of Polar's. Only the project's server sets a customer's external id and metadata. The metadata of an order or
 * a subscription comes from its checkout, whose link can add to it.
 * https://docs.polar.sh/features/checkout/links
 */
export function polarClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  const { data } = event
  const type = before(text(event.type) ?? '', '.')
  const said = (customer: unknown) => {
    const external = text(at(customer, 'external_id'))
    return [...(external === null ? [] : [external]), ...claimedValues(at(customer, 'metadata'), keys)]
  }
  if (type === 'customer') return claimsOf(text(at(data, 'id')), said(data), 'customer')
  if (type !== 'subscription' && type !== 'order') return []
  const owner = at(data, 'customer')
  const id = text(at(data, 'customer_id')) ?? idOf(owner)
  const own = claimsOf(id, said(owner), 'customer')
  if (type === 'order' && !PAID.includes(text(at(data, 'status')) ?? '')) return own
  return [...own, ...claimsOf(id, claimedValues(at(data, 'metadata'), keys), 'checkout')]
}
