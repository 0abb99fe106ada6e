import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import { at, before, type Json, text } from './lib/json'

/** The statuses of a transaction that is paid. Opening a checkout costs a buyer nothing, so anybody can do it for any address. */
const PAID = ['paid', 'completed']

/**
 * The claims of an event of Paddle's. Checkouts in a browser can set the custom data of transactions and subscriptions, but
 * not that of customers.
 * https://developer.paddle.com/build/transactions/custom-data
 */
export function paddleClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  const values = claimedValues(at(event, 'data', 'custom_data'), keys)
  const type = before(text(event.event_type) ?? '', '.')
  if (type === 'customer') return claimsOf(text(at(event, 'data', 'id')), values, 'customer')
  if (type !== 'subscription' && type !== 'transaction') return []
  if (type === 'transaction' && !PAID.includes(text(at(event, 'data', 'status')) ?? '')) return []
  return claimsOf(text(at(event, 'data', 'customer_id')), values, 'checkout')
}
