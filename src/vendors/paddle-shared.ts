import { type boundedMetadata, type Cut, word } from './lib/bounded'
import { at, type Json } from './lib/json'
import { isoTime } from './lib/time'

/** What the functions for each kind get. */
export type Paddle = {
  type: string
  data: Json
  common: Common
  /** Set where a list is not whole. */
  cut: Cut
}

type Common = {
  customer: string | null
  vendor_status: string | null
  livemode: null
  created_at: string | null
  updated_at: string | null
  metadata: ReturnType<typeof boundedMetadata>
}

/** The same words for both vendors; null for an unknown word. */
export function collectionOf(mode: unknown) {
  if (mode === 'automatic') return 'charge_automatically' as const
  return mode === 'manual' ? ('send_invoice' as const) : null
}

/** A discount as Paddle names it, as a list: its id, and for a subscription when it applies. */
export function discountOf(discount: unknown) {
  const id = word(at(discount, 'id'))
  if (id === null) return []
  const unknown = { coupon: null, promotion_code: null, percent_off: null, amount_off: null, currency: null }
  return [{ id, ...unknown, starts_at: isoTime(at(discount, 'starts_at')), ends_at: isoTime(at(discount, 'ends_at')) }]
}
