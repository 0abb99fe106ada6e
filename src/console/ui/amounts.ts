import { money } from './format'

/** The fields that are amounts in minor units of the object's currency. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'amount',
  'amount_due',
  'amount_off',
  'amount_paid',
  'amount_remaining',
  'balance',
  'discount_amount',
  'ending_balance',
  'post_payment_credit_notes_amount',
  'pre_payment_credit_notes_amount',
  'starting_balance',
  'subtotal',
  'tax',
  'total',
])

/** An amount in its currency; null if the field is not an amount, or the currency is not known. */
export function amountIn(field: string, value: unknown, currency: string | null | undefined): string | null {
  if (!AMOUNTS.has(field) || typeof value !== 'number' || !currency) return null
  return money({ value, currency })
}

/** The price of an item or a line: `EUR 19.00 / month`, `EUR 5.00 / 3 months`. Null for a price without an amount. */
export function priceOf(item: Record<string, unknown>, currency?: string | null): string | null {
  const { amount, interval, interval_count } = item
  const own = typeof item.currency === 'string' ? item.currency : currency
  const price = amountIn('amount', amount, own)
  if (price === null || typeof interval !== 'string') return price
  const every = typeof interval_count === 'number' && interval_count > 1 ? `${interval_count} ${interval}s` : interval
  return `${price} / ${every}`
}
