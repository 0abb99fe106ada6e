import type { boundedMetadata, Cut } from './lib/bounded'
import type { Json } from './lib/json'

/** What the functions for each kind get. `previous`: the values that the event's change replaced. */
export type Stripe = {
  type: string
  object: Json
  previous: unknown
  common: Common
  /** Set where a list is not whole. */
  cut: Cut
}

type Common = {
  customer: string | null
  vendor_status: string | null
  livemode: boolean | null
  created_at: string | null
  updated_at: string | null
  metadata: ReturnType<typeof boundedMetadata>
}

/** How the invoices are paid; null for an unknown word. */
export function collectionOf(value: unknown): 'charge_automatically' | 'send_invoice' | null {
  if (value === 'charge_automatically') return value
  return value === 'send_invoice' ? value : null
}
