import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Fields,
  isoOf,
  type Shape,
  stripeEventOf,
  stripeInvoice,
  stripeItem,
  stripePaymentMethod,
  stripeSubscription,
  T0,
} from './payloads'
import { expectShown } from './shows'
import { type BillingWorld, billingWorld, type List } from './world'

/* The fields of Stripe's objects that have everything, as each version of its API sends them. */

const DAY = 86_400
let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const shows = (list: List, event: object, id: unknown, expected: Fields) =>
  expectShown(world, { list, event, id }, expected)

const OLD: Shape = '2020-03-02'
const NEW: Shape = '2026-03-25.dahlia'
const COUPON = { id: 'SUMMER', object: 'coupon', percent_off: 25.5, amount_off: null, currency: null, duration: 'once' }
const DISCOUNT = {
  id: 'di_1',
  coupon: 'SUMMER',
  promotion_code: 'promo_1',
  percent_off: 25.5,
  amount_off: null,
  currency: null,
  starts_at: isoOf(T0),
  ends_at: isoOf(T0 + DAY),
}
const ONLY_ID = { coupon: null, promotion_code: null, percent_off: null, starts_at: null, ends_at: null }
const sentDiscount = (fields: Fields) => ({
  id: 'di_1',
  object: 'discount',
  promotion_code: 'promo_1',
  start: T0,
  end: T0 + DAY,
  ...fields,
})

describe("Stripe's subscriptions", () => {
  const FULL = {
    metadata: { plan: 'pro', seats: '5' },
    description: 'Pro for Ada',
    pause_collection: { behavior: 'keep_as_draft', resumes_at: T0 + DAY },
    latest_invoice: 'in_latest',
    schedule: 'sub_sched_1',
    collection_method: 'send_invoice',
    days_until_due: 14,
    start_date: T0 - DAY,
    trial_start: T0 - 2 * DAY,
    trial_end: T0,
    billing_cycle_anchor: T0 + 5,
    pending_setup_intent: 'seti_1',
    application_fee_percent: 12.5,
    cancellation_details: { reason: 'cancellation_requested', feedback: 'too_expensive', comment: 'Sorry' },
  }
  const SHOWN = {
    status: 'active',
    metadata: FULL.metadata,
    description: 'Pro for Ada',
    pause_collection: { behavior: 'keep_as_draft', resumes_at: isoOf(T0 + DAY) },
    latest_invoice: 'in_latest',
    schedule: 'sub_sched_1',
    collection_method: 'send_invoice',
    days_until_due: 14,
    created_at: isoOf(T0),
    started_at: isoOf(T0 - DAY),
    trial_start: isoOf(T0 - 2 * DAY),
    trial_end: isoOf(T0),
    billing_cycle_anchor: isoOf(T0 + 5),
    default_payment_method: 'pm_1Default',
    pending_setup_intent: 'seti_1',
    application_fee_percent: 12.5,
    cancellation: FULL.cancellation_details,
  }
  const CASES: [string, Shape, Fields, Fields][] = [
    [
      'old: one discount with its coupon',
      OLD,
      { discount: sentDiscount({ coupon: COUPON }) },
      { discounts: [DISCOUNT] },
    ],
    [
      'new: ids of discounts',
      NEW,
      { discounts: ['di_1'] },
      { discounts: [expect.objectContaining({ id: 'di_1', ...ONLY_ID })] },
    ],
    [
      'new: expanded, the coupon in its source',
      NEW,
      { discounts: [sentDiscount({ source: { type: 'coupon', coupon: COUPON } })] },
      { discounts: [DISCOUNT] },
    ],
    [
      'new: the coupon as an id',
      NEW,
      { discounts: [sentDiscount({ source: { coupon: 'SUMMER' } })] },
      { discounts: [{ ...DISCOUNT, percent_off: null }] },
    ],
    ['no discount', OLD, { discount: null }, { discounts: [] }],
    [
      'old: a source instead of a payment method',
      OLD,
      { default_payment_method: null, default_source: 'card_1' },
      { default_payment_method: 'card_1' },
    ],
    ['no discounts', NEW, { discounts: [] }, { discounts: [] }],
    [
      'an amount off',
      OLD,
      { discount: sentDiscount({ coupon: { id: 'X', amount_off: 500, currency: 'eur' } }) },
      { discounts: [expect.objectContaining({ coupon: 'X', amount_off: 500, currency: 'EUR' })] },
    ],
    ['objects instead of ids', NEW, { latest_invoice: { id: 'in_latest' }, schedule: { id: 'sub_sched_1' } }, {}],
  ]
  it.each(CASES)('%s', async (_, shape, fields, expected) => {
    const object = stripeSubscription({ ...FULL, ...fields }, shape)
    await shows('subscriptions', stripeEventOf('customer.subscription.updated', object, { shape }), object.id, {
      ...SHOWN,
      ...expected,
    })
  })

  const price = (fields: Fields) => ({ id: 'price_1', currency: 'usd', product: 'prod_1', ...fields })
  const recurring = { interval: 'year', interval_count: 2, usage_type: 'metered' }
  const ITEMS: [string, Fields, Fields][] = [
    [
      'a price',
      { price: price({ unit_amount: 900, recurring }) },
      { amount: 900, amount_decimal: null, currency: 'USD', ...recurring },
    ],
    [
      'a price with fractions',
      { price: price({ unit_amount: null, unit_amount_decimal: '0.5' }) },
      { amount: null, amount_decimal: '0.5' },
    ],
    [
      'a price with a name and a key',
      { price: price({ nickname: 'Pro, monthly', lookup_key: 'pro_monthly' }) },
      { price_name: 'Pro, monthly', lookup_key: 'pro_monthly' },
    ],
    [
      'a price with tiers',
      { price: price({ unit_amount: null, unit_amount_decimal: null }), plan: null },
      { amount: null, amount_decimal: null },
    ],
    [
      'only a plan, before prices',
      {
        price: undefined,
        plan: { id: 'gold', nickname: 'Gold', amount: 700, currency: 'eur', product: 'prod_1', ...recurring },
      },
      { price: 'gold', price_name: 'Gold', lookup_key: null, amount: 700, currency: 'EUR', ...recurring },
    ],
    [
      'values of other types',
      { price: price({ unit_amount: 'x', recurring: 7 }), plan: 'gold', quantity: '3' },
      { amount: null, interval: null, quantity: null },
    ],
  ]
  it.each(ITEMS)('an item with %s', async (_, fields, expected) => {
    const items = { object: 'list', data: [stripeItem(fields)], has_more: false }
    const object = stripeSubscription({ items })
    await shows('subscriptions', stripeEventOf('customer.subscription.updated', object), object.id, {
      items: [expect.objectContaining(expected)],
    })
  })
})

describe("Stripe's invoices", () => {
  const FULL = {
    number: 'A-1',
    description: 'Thanks',
    subtotal: 2000,
    total: 2142,
    total_discount_amounts: [{ amount: 150, discount: 'di_1' }, { amount: 50 }],
    amount_paid: 2142,
    amount_remaining: 0,
    starting_balance: -10,
    ending_balance: 0,
    attempt_count: 2,
    billing_reason: 'subscription_update',
    status: 'paid',
    status_transitions: { finalized_at: T0 + 1, paid_at: T0 + 2, voided_at: T0 + 3, marked_uncollectible_at: T0 + 4 },
    due_date: T0 + DAY,
    invoice_pdf: 'https://pay.stripe.com/invoice/acct_1Tests/test_1/pdf',
    customer_email: 'ada@example.com',
    customer_name: 'Ada',
    customer_address: { line1: '12 St James’s Square', city: 'London', postal_code: 'SW1Y 4JH', country: 'GB' },
    customer_tax_exempt: 'reverse',
    customer_tax_ids: [{ type: 'gb_vat', value: 'GB123456789' }],
    pre_payment_credit_notes_amount: 100,
    post_payment_credit_notes_amount: 300,
    receipt_number: '2000-1',
    default_payment_method: 'pm_1',
    metadata: { order: '7' },
  }
  const SHOWN = {
    number: 'A-1',
    description: 'Thanks',
    subtotal: 2000,
    discount_amount: 200,
    tax: 342,
    total: 2142,
    amount_remaining: 0,
    starting_balance: -10,
    ending_balance: 0,
    attempt_count: 2,
    billing_reason: 'subscription_update',
    created_at: isoOf(T0),
    finalized_at: isoOf(T0 + 1),
    paid_at: isoOf(T0 + 2),
    voided_at: isoOf(T0 + 3),
    uncollectible_at: isoOf(T0 + 4),
    due_at: isoOf(T0 + DAY),
    hosted_url: 'https://invoice.stripe.com/i/acct_1Tests/test_1',
    pdf_url: 'https://pay.stripe.com/invoice/acct_1Tests/test_1/pdf',
    customer_email: 'ada@example.com',
    customer_name: 'Ada',
    customer_address: { ...FULL.customer_address, line2: null, state: null },
    customer_tax_exempt: 'reverse',
    customer_tax_ids: FULL.customer_tax_ids,
    pre_payment_credit_notes_amount: 100,
    post_payment_credit_notes_amount: 300,
    receipt_number: '2000-1',
    default_payment_method: 'pm_1',
    payment_intent: 'pi_1',
    charge: 'ch_1',
    metadata: { order: '7' },
  }
  const payments = (...data: Fields[]) => ({ payments: { object: 'list', data, has_more: false } })
  const taxes = [{ amount: 300 }, { amount: 42 }]
  const CASES: [string, Shape, Fields, Fields][] = [
    ['old', OLD, { tax: 342, payment_intent: 'pi_1', charge: 'ch_1' }, {}],
    [
      'old: a source instead of a payment method',
      OLD,
      { tax: 342, payment_intent: 'pi_1', charge: 'ch_1', default_payment_method: null, default_source: 'card_1' },
      { default_payment_method: 'card_1' },
    ],
    [
      'old: objects instead of ids, taxes one by one',
      OLD,
      { tax: null, total_tax_amounts: taxes, payment_intent: { id: 'pi_1' }, charge: { id: 'ch_1' } },
      {},
    ],
    [
      'new: the default payment of several',
      NEW,
      {
        total_taxes: taxes,
        ...payments(
          { payment: { payment_intent: 'pi_0' } },
          { is_default: true, payment: { payment_intent: 'pi_1', charge: 'ch_1' } },
        ),
      },
      {},
    ],
    [
      'new: one payment',
      NEW,
      { total_taxes: taxes, ...payments({ payment: { payment_intent: { id: 'pi_1' } } }) },
      { charge: null },
    ],
    ['new: no payments, as in most events', NEW, { total_taxes: [] }, { tax: 0, payment_intent: null, charge: null }],
    [
      'a tax that is no amount',
      NEW,
      { total_taxes: [{ amount: 'much' }] },
      { tax: null, payment_intent: null, charge: null },
    ],
  ]
  it.each(CASES)('%s', async (_, shape, fields, expected) => {
    const object = stripeInvoice({ ...FULL, ...fields }, shape)
    await shows('invoices', stripeEventOf('invoice.paid', object, { shape }), object.id, { ...SHOWN, ...expected })
  })

  const LINE = {
    id: 'il_1',
    amount: 1000,
    currency: 'usd',
    description: '1 × Pro',
    quantity: 1,
    period: { start: T0, end: T0 + DAY },
    discount_amounts: [{ amount: 100 }],
  }
  const shownLine = {
    id: 'il_1',
    description: '1 × Pro',
    price: 'price_1',
    product: 'prod_1',
    quantity: 1,
    amount: 1000,
    discount_amount: 100,
    tax: 171,
    period_start: isoOf(T0),
    period_end: isoOf(T0 + DAY),
    proration: true,
    subscription_item: 'si_1',
  }
  const LINES: [string, Shape, Fields][] = [
    [
      'old',
      OLD,
      {
        ...LINE,
        price: { id: 'price_1', product: 'prod_1' },
        proration: true,
        subscription_item: 'si_1',
        tax_amounts: [{ amount: 171 }],
      },
    ],
    [
      'old: only a plan',
      OLD,
      {
        ...LINE,
        plan: { id: 'price_1', product: 'prod_1' },
        proration: true,
        subscription_item: 'si_1',
        tax_amounts: [{ amount: 171 }],
      },
    ],
    [
      'new',
      NEW,
      {
        ...LINE,
        pricing: { type: 'price_details', price_details: { price: 'price_1', product: 'prod_1' } },
        taxes: [{ amount: 171 }],
        parent: {
          type: 'subscription_item_details',
          subscription_item_details: { proration: true, subscription_item: 'si_1' },
        },
      },
    ],
  ]
  it.each(LINES)('lines: %s', async (_, shape, line) => {
    const object = stripeInvoice({ lines: { object: 'list', data: [line], has_more: false } }, shape)
    await shows('invoices', stripeEventOf('invoice.updated', object, { shape }), object.id, {
      lines: { data: [shownLine], has_more: false },
    })
  })
})

describe("Stripe's payment methods", () => {
  const OTHERS: [string, Fields, Fields][] = [
    [
      'us_bank_account',
      { bank_name: 'STRIPE TEST BANK', last4: '6789', routing_number: '110000000' },
      { bank: 'STRIPE TEST BANK', last4: '6789' },
    ],
    ['sepa_debit', { bank_code: '37040044', country: 'DE', last4: '3000' }, { bank: '37040044', last4: '3000' }],
    ['bacs_debit', { sort_code: '10-88-00', last4: '2345' }, { bank: '10-88-00', last4: '2345' }],
    ['au_becs_debit', { bsb_number: '000000', last4: '3456' }, { bank: '000000', last4: '3456' }],
    ['ideal', { bank: 'ing', bic: 'INGBNL2A' }, { bank: 'ing', last4: null }],
    ['paypal', { payer_email: 'ada@example.com' }, { wallet: 'ada@example.com', bank: null }],
    ['link', { email: 'ada@example.com' }, { wallet: 'ada@example.com' }],
    ['cashapp', { cashtag: '$ada' }, { wallet: '$ada' }],
    ['__proto__', {}, { bank: null, last4: null }],
  ]
  it.each(OTHERS)('%s', async (type, own, expected) => {
    const object = { ...stripePaymentMethod({ type, card: undefined, metadata: { a: 'b' } }), [type]: own }
    await shows('payment-methods', stripeEventOf('payment_method.attached', object), object.id, {
      type,
      card: null,
      created_at: isoOf(T0),
      metadata: { a: 'b' },
      ...expected,
    })
  })
})
