import { type Claim, claimOf, firstValue } from './claim'
import { at, before, type Json, text } from './lib/read'

/**
 * The claims of an event of Paddle's. Checkouts in a browser can set the custom data of transactions and subscriptions, but
 * not that of customers.
 * https://developer.paddle.com/build/transactions/custom-data
 */
export function paddleClaims(event: Json, keys: readonly string[]): Claim[] {
  const value = firstValue(at(event, 'data', 'custom_data'), keys)
  const type = before(text(event.event_type) ?? '', '.')
  if (type === 'customer') return claimOf(text(at(event, 'data', 'id')), value, 'customer')
  if (type !== 'subscription' && type !== 'transaction') return []
  return claimOf(text(at(event, 'data', 'customer_id')), value, 'checkout')
}
