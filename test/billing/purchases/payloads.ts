import { anId, type Fields, paddleTotals, T0 } from '../payloads'

/* Events about one-time payments, in the shapes of the vendors' published references, with made-up ids. */

/** A completed Checkout Session of Stripe's that was paid. */
export function stripeSession(fields: Fields = {}): Fields {
  return {
    id: anId('cs'),
    object: 'checkout.session',
    amount_subtotal: 4000,
    amount_total: 4900,
    created: T0 - 60,
    currency: 'usd',
    customer: 'cus_1Tests',
    customer_details: { email: 'jo@example.com', name: 'Jo Williams' },
    invoice: null,
    livemode: false,
    metadata: {},
    mode: 'payment',
    payment_intent: anId('pi'),
    payment_link: null,
    payment_status: 'paid',
    status: 'complete',
    subscription: null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 900 },
    ...fields,
  }
}

/** A charge of Stripe's. Since 2025-03-31 it names no invoice. */
export function stripeCharge(payment: string, fields: Fields = {}): Fields {
  return {
    id: `ch_${payment}`,
    object: 'charge',
    amount: 4900,
    amount_refunded: 0,
    created: T0,
    currency: 'usd',
    customer: 'cus_1Tests',
    payment_intent: payment,
    payment_method: 'pm_1Tests',
    receipt_url: `https://pay.stripe.com/receipts/${anId('rc')}`,
    refunded: false,
    status: 'succeeded',
    ...fields,
  }
}

export function stripeRefund(payment: string, fields: Fields = {}): Fields {
  return {
    id: anId('re'),
    object: 'refund',
    amount: 1000,
    charge: `ch_${payment}`,
    created: T0 + 60,
    currency: 'usd',
    payment_intent: payment,
    reason: 'requested_by_customer',
    status: 'succeeded',
    ...fields,
  }
}

export function stripeDispute(payment: string, fields: Fields = {}): Fields {
  return {
    id: anId('dp'),
    object: 'dispute',
    amount: 4900,
    charge: `ch_${payment}`,
    created: T0 + 120,
    currency: 'usd',
    evidence_details: { due_by: T0 + 864_000, has_evidence: false },
    payment_intent: payment,
    reason: 'fraudulent',
    status: 'needs_response',
    ...fields,
  }
}

/** A line of an invoice of Stripe's that comes from an invoice item, and not from a subscription. */
export function stripeOneTimeLine(fields: Fields = {}): Fields {
  return {
    id: anId('il'),
    object: 'line_item',
    amount: 4900,
    currency: 'usd',
    description: 'Setup',
    parent: { type: 'invoice_item_details', invoice_item_details: { invoice_item: 'ii_1', proration: false } },
    pricing: { type: 'price_details', price_details: { price: 'price_setup', product: 'prod_setup' } },
    quantity: 1,
    ...fields,
  }
}

export function stripeInvoicePayment(invoice: string, payment: string): Fields {
  return {
    id: anId('inpay'),
    object: 'invoice_payment',
    amount_paid: 4900,
    created: T0,
    currency: 'usd',
    invoice,
    payment: { type: 'payment_intent', payment_intent: payment },
    status: 'paid',
  }
}

const once = { id: 'pri_setup', product_id: 'pro_setup', billing_cycle: null }
const monthly = { id: 'pri_monthly', product_id: 'pro_chat', billing_cycle: { interval: 'month', frequency: 1 } }

/** A completed transaction of Paddle's with a setup fee, and, with a subscription, a month of it. */
export function paddleSale(fields: Fields = {}): Fields {
  const line = (id: string, price: typeof once | typeof monthly, total: string) => ({
    id,
    price_id: price.id,
    product: { id: price.product_id, name: price.id },
    quantity: 2,
    totals: { total, subtotal: total, tax: '0', discount: '0' },
  })
  return {
    id: anId('txn'),
    items: [
      { price: once, quantity: 2 },
      { price: monthly, quantity: 2 },
    ],
    status: 'completed',
    details: {
      totals: paddleTotals({ total: '9000', subtotal: '9000', tax: '0' }),
      line_items: [line('txnitm_once', once, '4000'), line('txnitm_monthly', monthly, '5000')],
    },
    payments: [],
    created_at: '2026-01-01T00:00:00.866909Z',
    updated_at: '2026-01-01T00:00:01.476640535Z',
    customer_id: 'ctm_1tests',
    currency_code: 'USD',
    subscription_id: 'sub_1ofsale',
    ...fields,
  }
}

export function paddleAdjustment(transaction: string, fields: Fields = {}): Fields {
  return {
    id: anId('adj'),
    action: 'refund',
    transaction_id: transaction,
    customer_id: 'ctm_1tests',
    currency_code: 'USD',
    reason: 'error',
    status: 'approved',
    items: [{ id: 'adjitm_1', item_id: 'txnitm_once', type: 'full', amount: '4000', totals: { total: '4000' } }],
    totals: { total: '4000', currency_code: 'USD' },
    created_at: '2026-01-02T00:00:00.000000Z',
    updated_at: '2026-01-02T00:00:00.000000Z',
    ...fields,
  }
}
