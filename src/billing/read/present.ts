import type * as z from 'zod'
import type { ShownKind } from '../../lib/billing-kinds'
import { vendorOf } from '../../vendors'
import type { Bodies } from '../../vendors/objects'
import { shownBody } from '../body'
import type { Invoice } from '../invoices/invoice'
import type { PaymentMethod } from '../payment-methods/payment-method'
import type { Purchase } from '../purchases/purchase'
import type { Subscription } from '../subscriptions/subscription'
import { cardOf } from './card'
import type { ObjectRow } from './store'

/** What the objects of all kinds have in common, as the API shows them. */
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

/** The fields of an object that its row has beside the body. */
type Framed<Body> = Pick<Presented, 'id' | 'vendor' | 'ambiguous' | 'incomplete' | 'source_event_id'> & Body

/**
 * The objects as the API shows them, without their consumer, which can change when they do not. A customer is shown with what it
 * has: see customers/read.ts.
 */
export type ShownObjects = {
  subscription: Omit<z.infer<typeof Subscription>, keyof Owned>
  invoice: Omit<z.infer<typeof Invoice>, keyof Owned>
  payment_method: Omit<z.infer<typeof PaymentMethod>, keyof Owned>
  purchase: Omit<z.infer<typeof Purchase>, keyof Owned>
  customer: Framed<Bodies['customer']>
}
/** The consumer that an object belongs to: the one its customer is linked to; null if there is none. */
export type Owned = { consumer_id: string | null }

/** A row of this kind as the API shows it, without its consumer. */
export function presentObject<K extends ShownKind>(kind: K, row: ObjectRow): ShownObjects[K] {
  return PRESENT[kind](row)
}

const PRESENT: { [K in ShownKind]: (row: ObjectRow) => ShownObjects[K] } = {
  subscription: (row) => framed(row, shownBody('subscription', row.body)),
  invoice: (row) => framed(row, { ...withOldNames(shownBody('invoice', row.body)), ...moneyBackOf(row) }),
  payment_method: (row) => framed(row, paymentMethodOf(row, shownBody('payment_method', row.body))),
  customer: (row) => framed(row, shownBody('customer', row.body)),
  purchase: (row) => framed(row, shownBody('purchase', row.body)),
}

function framed<Body>({ vendor_id, vendor, ambiguous, incomplete, event_id }: ObjectRow, body: Body): Framed<Body> {
  return { id: vendor_id, vendor, ...body, ambiguous, incomplete, source_event_id: event_id }
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

/** What came back of the money that an invoice was paid with. */
function moneyBackOf({ money }: ObjectRow) {
  const { refunded_amount, refunds, disputes } = shownBody('purchase', { ...money, status: 'unknown' })
  return { refunded_amount: refunded_amount ?? 0, refunds: refunds ?? [], disputes: disputes ?? [] }
}

/** With the names that two fields of invoices had first. */
function withOldNames(body: Bodies['invoice']) {
  return { ...body, due_date: body.due_at, hosted_invoice_url: body.hosted_url }
}
