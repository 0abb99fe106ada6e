import * as z from 'zod'
import { named } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { InvoiceBody } from '../../vendors/objects'
import { PurchaseBody } from '../../vendors/purchase'
import { exampleAddress, shownExample, shownObject } from '../read/fields'

const { due_at, hosted_url } = InvoiceBody.shape
/** The names that two fields had first: they stay, so that no client breaks. */
const oldNames = {
  due_date: due_at.meta({ deprecated: true, description: 'Use `due_at`.' }),
  hosted_invoice_url: hosted_url.meta({ deprecated: true, description: 'Use `hosted_url`.' }),
}

const { refunds, disputes } = PurchaseBody.shape
/** What came back of the money that it was paid with: in the row of a purchase with its id. */
const moneyShape = {
  refunded_amount: z
    .number()
    .describe('Money back: refunds that stand, and disputes that are lost, of the payments that paid it.'),
  refunds,
  disputes,
}

/** An invoice as the API shows it. */
export const Invoice = named('Invoice', shownObject({ ...InvoiceBody.shape, ...oldNames, ...moneyShape }), {
  ...shownExample,
  id: SAMPLE.invoice,
  status: 'paid',
  vendor_status: 'paid',
  number: 'B7F3-0001',
  description: null,
  subscription: SAMPLE.subscription,
  currency: 'EUR',
  subtotal: 4118,
  discount_amount: 0,
  tax: 782,
  total: 4900,
  amount_due: 4900,
  amount_paid: 4900,
  amount_remaining: 0,
  starting_balance: 0,
  ending_balance: 0,
  pre_payment_credit_notes_amount: 0,
  post_payment_credit_notes_amount: 0,
  discounts: [],
  lines: {
    data: [
      {
        id: 'il_1QZ4kMJ2eZvKYlo2',
        description: '1 × Pro (at €41.18 / month)',
        price: 'price_1QZ4k',
        product: 'prod_RYsA2',
        quantity: 1,
        amount: 4118,
        discount_amount: 0,
        tax: 782,
        period_start: '2026-11-21T08:46:58Z',
        period_end: '2026-12-21T08:46:58Z',
        proration: false,
        subscription_item: 'si_RYsC4',
      },
    ],
    has_more: false,
  },
  billing_reason: 'subscription_create',
  collection_method: 'charge_automatically',
  period_start: '2026-11-21T08:46:58Z',
  period_end: '2026-12-21T08:46:58Z',
  finalized_at: '2026-11-21T08:46:58Z',
  due_at: null,
  paid_at: '2026-11-21T08:46:58Z',
  voided_at: null,
  uncollectible_at: null,
  attempt_count: 1,
  next_payment_attempt: null,
  payment_intent: 'pi_1QZ4kLJ2eZvKYlo2',
  charge: null,
  default_payment_method: null,
  receipt_number: null,
  hosted_url: 'https://invoice.stripe.com/i/acct_1QZ4k/live_YWNjdF8x',
  pdf_url: 'https://pay.stripe.com/invoice/acct_1QZ4k/live_YWNjdF8x/pdf',
  customer_email: SAMPLE.email,
  customer_name: 'Ada Lovelace',
  customer_address: exampleAddress,
  customer_tax_exempt: 'none',
  customer_tax_ids: [{ type: 'gb_vat', value: 'GB123456789' }],
  due_date: null,
  hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1QZ4k/live_YWNjdF8x',
  refunded_amount: 0,
  refunds: [],
  disputes: [],
})
