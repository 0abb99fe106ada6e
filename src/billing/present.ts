import type { PaymentCardBody } from './objects'
import type { ObjectRow } from './store'

/** A row as the API shows it. */
export function present(row: ObjectRow) {
  const body = JSON.parse(row.body) as Record<string, unknown>
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
