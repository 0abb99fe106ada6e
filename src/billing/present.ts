import type { PaymentCardBody } from '../vendors/objects'
import type { ObjectRow } from './store'

/** An object as the API shows it: what all kinds have in common. */
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
export function present(row: ObjectRow): Presented {
  const body = JSON.parse(row.body) as Pick<Presented, 'status' | 'vendor_status' | 'customer' | 'updated_at'>
  return {
    id: row.vendor_id,
    vendor: row.vendor,
    ...body,
    ...(row.card !== null && { card: cardOf(JSON.parse(row.card) as PaymentCardBody) }),
    ambiguous: row.ambiguous === 1,
    source_event_id: row.event_id,
  }
}

/** What is shown of what payments say of a card. */
export function cardOf({ brand, last4, exp_month, exp_year }: PaymentCardBody) {
  return { brand, last4, exp_month, exp_year }
}
