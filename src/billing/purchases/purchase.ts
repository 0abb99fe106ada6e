import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { PurchaseBody } from '../../vendors/purchase'
import { shownExample, shownObject } from '../read/fields'

/** A purchase as the API shows it. */
export const Purchase = named('Purchase', shownObject(PurchaseBody.shape), {
  ...shownExample,
  id: SAMPLE.purchase,
  status: 'partially_refunded',
  vendor_status: 'paid',
  number: null,
  description: null,
  currency: 'EUR',
  subtotal: 4118,
  discount_amount: 0,
  tax: 782,
  total: 4900,
  paid_at: '2026-11-21T08:46:58Z',
  items: [
    {
      id: null,
      description: null,
      price: 'price_1QZ4p',
      variant: null,
      product: null,
      quantity: 1,
      quantity_returned: null,
      amount: null,
      refunded_amount: null,
    },
  ],
  items_missing: false,
  refunded_amount: 1000,
  refunds: [
    {
      id: 're_1QZ4qJ2eZvKYlo2',
      amount: 1000,
      status: 'succeeded',
      reason: 'requested_by_customer',
      revokes_access: null,
      created_at: '2026-11-24T10:00:00Z',
      event_id: SAMPLE.event,
    },
  ],
  disputes: [],
  invoice: null,
  subscription: null,
  payment_method: null,
  receipt_url: null,
  hosted_url: null,
  customer_email: SAMPLE.email,
  customer_name: 'Ada Lovelace',
})
