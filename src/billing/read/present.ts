import { vendorOf } from '../../vendors'
import type { Bodies } from '../../vendors/objects'
import { shown } from '../body'
import { cardOf } from './card'
import type { ObjectRow } from './store'

/** An object as the API shows it: the fields that all kinds have. */
export type Presented = {
  id: string
  vendor: string
  status: string
  vendor_status: string | null
  customer: string | null
  created_at: string | null
  updated_at: string | null
  metadata: Record<string, string | number | boolean> | null
  ambiguous: boolean
  incomplete: boolean
  source_event_id: string
}

/** A row as the API shows it. */
export function present(row: ObjectRow): Presented {
  const { kind, vendor_id, vendor, body, ambiguous, incomplete, event_id } = row
  return {
    id: vendor_id,
    vendor,
    ...fieldsOf(kind, row, shown(kind, body)),
    ambiguous,
    incomplete,
    source_event_id: event_id,
  }
}

function fieldsOf(kind: ObjectRow['kind'], row: ObjectRow, body: Bodies[ObjectRow['kind']]) {
  if (kind === 'payment_method') return paymentMethodOf(row, body as Bodies['payment_method'])
  return kind === 'invoice' ? { ...body, ...oldNames(body as Bodies['invoice']) } : body
}

/** A payment method with what other objects say about it: payments give its card, and its customer says whether it is the default. */
function paymentMethodOf(
  { vendor, vendor_id, card, customer_known, default_method }: ObjectRow,
  body: Bodies['payment_method'],
) {
  const hasDefaults = customer_known && vendorOf(vendor)?.hasDefaultPaymentMethod === true
  const seen = card === null ? null : cardOf(card)
  const holder = (card?.holder as string | undefined) ?? null
  return {
    ...body,
    ...(seen && { card: seen, last4: seen.last4 }),
    ...(holder !== null && { billing_details: { name: holder, email: null, phone: null, address: null } }),
    is_default: hasDefaults ? default_method === vendor_id : null,
  }
}

/** The names that two fields of invoices had first. */
function oldNames({ due_at, hosted_url }: Bodies['invoice']) {
  return { due_date: due_at, hosted_invoice_url: hosted_url }
}
