import type { PaymentCardBody } from '../../vendors/objects'
import type { ObjectRow } from './store'

/** An object as the API shows it: the fields that all kinds have. */
export type Presented = {
  id: string
  vendor: string
  status: string
  vendor_status: string | null
  customer: string | null
  updated_at: string | null
  ambiguous: boolean
  source_event_id: string
}

/** A row as the API shows it. */
export function present({ vendor_id, vendor, body, card, ambiguous, event_id }: ObjectRow): Presented {
  return {
    id: vendor_id,
    vendor,
    ...body,
    ...(card !== null && { card: cardOf(card) }),
    ambiguous,
    source_event_id: event_id,
  }
}

/** What is shown of a card: without the fields that place it among events. */
export function cardOf({ brand, last4, exp_month, exp_year }: PaymentCardBody) {
  return { brand, last4, exp_month, exp_year }
}
