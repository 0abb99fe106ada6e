/*
 * Events of Stripe and Paddle in the shapes of their published references, with made-up ids:
 * https://docs.stripe.com/api/events/object and https://developer.paddle.com/webhooks/overview. Every builder makes a
 * whole object. A test overrides the fields it is about; `undefined` removes a field.
 */

export type Fields = Record<string, unknown>

/** Before and after 2025-03-31 (basil): periods moved to the items, an invoice's subscription to its parent. */
export type Shape = '2020-03-02' | '2026-03-25.dahlia'
export const SHAPES: readonly Shape[] = ['2020-03-02', '2026-03-25.dahlia']
const NEW: Shape = '2026-03-25.dahlia'

/** 2026-01-01T00:00:00Z, in Stripe's seconds. */
export const T0 = 1_767_225_600
export const isoOf = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, -5)}Z`

let made = 0
/** A new id, unique among the tests. */
export function anId(prefix: string): string {
  made += 1
  return `${prefix}_1Tests${String(made).padStart(8, '0')}`
}

type StripeOptions = {
  id?: string
  at?: number | null
  previous?: Fields
  shape?: Shape
  livemode?: boolean
}

/** A Stripe event of an object. */
export function stripeEventOf(type: string, object: Fields, options: StripeOptions = {}) {
  const { id = anId('evt'), at = T0, previous, shape = NEW, livemode = false } = options
  return {
    id,
    object: 'event',
    api_version: shape,
    ...(at !== null && { created: at }),
    data: { object, ...(previous && { previous_attributes: previous }) },
    livemode,
    pending_webhooks: 1,
    request: { id: 'req_1TestsRequest', idempotency_key: null },
    type,
  }
}

/** One item of a subscription. Only in the newer shape does it have a period. */
export function stripeItem(fields: Fields = {}, shape: Shape = NEW) {
  const price = {
    id: 'price_monthly',
    object: 'price',
    active: true,
    currency: 'usd',
    nickname: null,
    product: 'prod_basic',
  }
  return {
    id: 'si_1',
    object: 'subscription_item',
    created: T0,
    ...(shape === NEW && { current_period_start: T0, current_period_end: T0 + 2_592_000 }),
    metadata: {},
    plan: { ...price, object: 'plan', interval: 'month' },
    price: {
      ...price,
      lookup_key: null,
      recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
      type: 'recurring',
      unit_amount: 1200,
      unit_amount_decimal: '1200',
    },
    quantity: 2,
    tax_rates: [],
    ...fields,
  }
}

export function stripeSubscription(fields: Fields = {}, shape: Shape = NEW): Fields {
  return {
    id: anId('sub'),
    object: 'subscription',
    billing_cycle_anchor: T0,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    collection_method: 'charge_automatically',
    created: T0,
    ...(shape === NEW
      ? { currency: 'usd', billing_mode: { type: 'classic' }, cancellation_details: { comment: null, reason: null } }
      : { current_period_start: T0, current_period_end: T0 + 2_592_000, plan: { id: 'price_monthly' }, quantity: 2 }),
    customer: 'cus_1Tests',
    days_until_due: null,
    default_payment_method: 'pm_1Default',
    ended_at: null,
    items: { object: 'list', data: [stripeItem({}, shape)], has_more: false, total_count: 1 },
    latest_invoice: null,
    livemode: false,
    metadata: {},
    pause_collection: null,
    schedule: null,
    start_date: T0,
    status: 'active',
    trial_end: null,
    trial_start: null,
    ...fields,
  }
}

export function stripeInvoice({ subscription = 'sub_1OfInvoice', ...fields }: Fields = {}, shape: Shape = NEW): Fields {
  const details = { metadata: {}, subscription }
  return {
    id: anId('in'),
    object: 'invoice',
    amount_due: 2400,
    amount_paid: 0,
    amount_remaining: 2400,
    attempt_count: 0,
    attempted: false,
    billing_reason: 'subscription_cycle',
    collection_method: 'charge_automatically',
    created: T0,
    currency: 'usd',
    customer: 'cus_1Tests',
    customer_address: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: null,
    due_date: null,
    hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1Tests/test_1',
    lines: { object: 'list', data: [], has_more: false, total_count: 0 },
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: 'TESTS-0001',
    ...(shape === NEW
      ? { parent: { quote_details: null, subscription_details: details, type: 'subscription_details' } }
      : { subscription, paid: false, charge: null, payment_intent: 'pi_1Tests' }),
    period_start: T0 - 2_592_000,
    period_end: T0,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    status: 'open',
    subtotal: 2400,
    total: 2400,
    ...fields,
  }
}

export function stripePaymentMethod(fields: Fields = {}): Fields {
  return {
    id: anId('pm'),
    object: 'payment_method',
    billing_details: { address: { country: 'DE' }, email: null, name: null, phone: null },
    card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034, funding: 'credit', country: 'DE' },
    created: T0,
    customer: 'cus_1Tests',
    livemode: false,
    metadata: {},
    type: 'card',
    ...fields,
  }
}

/** A Paddle event of an entity. */
export function paddleEventOf(event_type: string, data: Fields, { id = anId('evt'), at = PADDLE_T0 as unknown } = {}) {
  return { event_id: id, event_type, occurred_at: at, notification_id: anId('ntf'), data }
}

export const PADDLE_T0 = '2026-01-01T00:00:00.268117Z'

export function paddleSubscription(fields: Fields = {}): Fields {
  return {
    id: anId('sub'),
    items: [paddleItem()],
    status: 'active',
    paused_at: null,
    address_id: 'add_1tests',
    created_at: '2025-12-01T00:00:00.892822Z',
    updated_at: '2026-01-01T00:00:00.341611Z',
    canceled_at: null,
    custom_data: null,
    customer_id: 'ctm_1tests',
    billing_cycle: { interval: 'month', frequency: 1 },
    currency_code: 'USD',
    next_billed_at: '2026-02-01T00:00:00.449123Z',
    collection_mode: 'automatic',
    scheduled_change: null,
    current_billing_period: { starts_at: '2026-01-01T00:00:00.449123Z', ends_at: '2026-02-01T00:00:00.449123Z' },
    ...fields,
  }
}

export function paddleItem(fields: Fields = {}) {
  return {
    price: { id: 'pri_monthly', product_id: 'pro_chat', unit_price: { amount: '3240', currency_code: 'USD' } },
    product: { id: 'pro_chat', name: 'Chat', type: 'standard' },
    status: 'active',
    quantity: 10,
    recurring: true,
    trial_dates: null,
    ...fields,
  }
}

/** The totals of a transaction: strings in the currency's minor unit. */
export function paddleTotals(fields: Fields = {}) {
  return {
    fee: null,
    tax: '400',
    total: '3640',
    credit: '0',
    balance: '3640',
    discount: '0',
    subtotal: '3240',
    grand_total: '3640',
    currency_code: 'USD',
    ...fields,
  }
}

export function paddleTransaction({ totals, ...fields }: Fields = {}): Fields {
  return {
    id: anId('txn'),
    items: [{ price: { id: 'pri_monthly', product_id: 'pro_chat' }, quantity: 1 }],
    origin: 'subscription_recurring',
    status: 'ready',
    details: { totals: paddleTotals(totals as Fields), line_items: [], payout_totals: null },
    payments: [],
    billed_at: null,
    address_id: 'add_1tests',
    created_at: '2026-01-01T00:00:00.866909Z',
    invoice_id: null,
    updated_at: '2026-01-01T00:00:01.476640535Z',
    custom_data: null,
    customer_id: 'ctm_1tests',
    currency_code: 'USD',
    billing_period: { starts_at: '2026-01-01T00:00:00Z', ends_at: '2026-02-01T00:00:00Z' },
    invoice_number: null,
    subscription_id: 'sub_1oftransaction',
    ...fields,
  }
}

/** A payment of a transaction, by a stored card. */
export function paddlePayment(payment_method_id: string, card: Fields = {}, fields: Fields = {}) {
  return {
    amount: '3640',
    status: 'captured',
    created_at: '2026-01-01T00:00:00.900430Z',
    captured_at: '2026-01-01T00:00:02.100000Z',
    method_details: {
      card: {
        type: 'visa',
        last4: '3184',
        expiry_year: 2030,
        expiry_month: 1,
        cardholder_name: 'Jo Williams',
        ...card,
      },
      type: 'card',
    },
    payment_attempt_id: '1e575000-96e8-4658-a822-c8177c94147e',
    payment_method_id,
    ...fields,
  }
}

export function paddlePaymentMethod(fields: Fields = {}): Fields {
  return {
    id: anId('paymtd'),
    customer_id: 'ctm_1tests',
    address_id: 'add_1tests',
    type: 'card',
    origin: 'saved_during_purchase',
    saved_at: '2026-01-01T00:00:00.198953Z',
    updated_at: '2026-01-01T00:00:00.198953Z',
    ...fields,
  }
}
