/* Payloads of vendors that send whole objects, as their documentation describes them. */

export type Fields = Record<string, unknown>
const DAY = 86_400
/** 2026-01-01T00:00:00Z, in seconds. */
export const START = 1_767_225_600
export const at = (days: number, digits = 0) =>
  new Date((START + days * DAY) * 1000).toISOString().replace(/\.\d+Z$/, digits ? `.${'0'.repeat(digits)}Z` : 'Z')
export const day = (days: number) => at(days).slice(0, 10)

// Polar

export const polarSubscription = (fields: Fields = {}): Fields => ({
  id: 'pol_sub_1',
  created_at: at(0, 6),
  modified_at: at(0, 6),
  status: 'active',
  amount: 1900,
  currency: 'usd',
  recurring_interval: 'month',
  recurring_interval_count: 1,
  current_period_start: at(0),
  current_period_end: at(31),
  trial_start: null,
  trial_end: null,
  cancel_at_period_end: false,
  canceled_at: null,
  started_at: at(0),
  ends_at: null,
  ended_at: null,
  customer_id: 'pol_cus_1',
  product_id: 'pol_prod_1',
  discount_id: null,
  checkout_id: null,
  seats: null,
  metadata: {},
  customer: { id: 'pol_cus_1', external_id: 'user_polar', email: 'polar@example.com', metadata: {} },
  product: { id: 'pol_prod_1', name: 'Pro' },
  prices: [{ id: 'pol_price_1', amount_type: 'fixed', price_amount: 1900, price_currency: 'usd' }],
  ...fields,
})
export const polarOrder = (fields: Fields = {}): Fields => ({
  id: 'pol_ord_1',
  created_at: at(0, 6),
  modified_at: null,
  status: 'paid',
  subtotal_amount: 2000,
  discount_amount: 100,
  tax_amount: 361,
  total_amount: 2261,
  due_amount: 2261,
  currency: 'usd',
  billing_reason: 'subscription_create',
  billing_name: 'Ada Example',
  invoice_number: 'POLAR-1',
  customer_id: 'pol_cus_1',
  product_id: 'pol_prod_1',
  subscription_id: 'pol_sub_1',
  metadata: {},
  customer: { id: 'pol_cus_1', external_id: null },
  items: [
    { id: 'item_1', label: 'Pro', amount: 2000, tax_amount: 361, proration: false, product_price_id: 'pol_price_1' },
  ],
  ...fields,
})
export const polarCustomer = (fields: Fields = {}): Fields => ({
  id: 'pol_cus_1',
  created_at: at(0, 6),
  modified_at: null,
  external_id: 'user_polar',
  email: 'polar@example.com',
  name: 'Ada Example',
  billing_address: { line1: 'Road 1', city: 'Paris', postal_code: '75001', country: 'FR' },
  metadata: {},
  deleted_at: null,
  ...fields,
})
export const polarEvent = (type: string, data: Fields, timestamp = at(0, 6)): Fields => ({ type, timestamp, data })

// Lemon Squeezy

export const lemonSubscription = (fields: Fields = {}): Fields => ({
  store_id: 1,
  customer_id: 31,
  order_id: 41,
  order_item_id: 51,
  product_id: 61,
  variant_id: 71,
  product_name: 'Pro',
  variant_name: 'Monthly',
  user_email: 'lemon@example.com',
  status: 'active',
  pause: null,
  cancelled: false,
  trial_ends_at: null,
  first_subscription_item: { id: 81, subscription_id: 21, price_id: 91, quantity: 3, is_usage_based: false },
  urls: { customer_portal: 'https://my-store.lemonsqueezy.com/billing?signature=0' },
  renews_at: at(31, 6),
  ends_at: null,
  created_at: at(0, 6),
  updated_at: at(0, 6),
  test_mode: false,
  ...fields,
})
export const lemonInvoice = (fields: Fields = {}): Fields => ({
  subscription_id: 21,
  customer_id: 31,
  billing_reason: 'renewal',
  currency: 'USD',
  status: 'paid',
  subtotal: 2000,
  discount_total: 100,
  tax: 361,
  total: 2261,
  urls: { invoice_url: 'https://app.lemonsqueezy.com/my-orders/1?signature=0' },
  user_name: 'Ada Example',
  user_email: 'lemon@example.com',
  created_at: at(0, 6),
  updated_at: at(0, 6),
  test_mode: false,
  ...fields,
})
export const lemonEvent = (
  event_name: string,
  [type, id]: readonly [type: string, id: string],
  attributes: Fields,
  meta: Fields = {},
): Fields => ({ meta: { event_name, test_mode: attributes.test_mode, ...meta }, data: { type, id, attributes } })
export const lemonOrder = (fields: Fields = {}): Fields => ({
  customer_id: 31,
  order_number: 1001,
  user_name: 'Ada Example',
  user_email: 'ada@example.com',
  currency: 'USD',
  subtotal: 1900,
  discount_total: 0,
  tax: 361,
  total: 2261,
  refunded_amount: 0,
  status: 'paid',
  first_order_item: {
    id: 51,
    product_id: 61,
    variant_id: 71,
    price_id: 91,
    product_name: 'Pro',
    quantity: 1,
    price: 1900,
  },
  urls: { receipt: 'https://my-store.lemonsqueezy.com/receipt' },
  created_at: at(0, 6),
  updated_at: at(0, 6),
  test_mode: false,
  ...fields,
})
export const LEMON_ORDER = ['orders', '41'] as const
export const LEMON_SUBSCRIPTION = ['subscriptions', '21'] as const
export const LEMON_INVOICE = ['subscription-invoices', '22'] as const

// Chargebee

export const chargebeeSubscription = (fields: Fields = {}): Fields => ({
  id: 'cb_sub_1',
  object: 'subscription',
  customer_id: 'cb_cus_1',
  status: 'active',
  currency_code: 'USD',
  billing_period: 1,
  billing_period_unit: 'month',
  subscription_items: [
    { item_price_id: 'cb_price_1', item_type: 'plan', quantity: 2, unit_price: 1900 },
    { item_price_id: 'cb_addon_1', item_type: 'addon', quantity: 5, unit_price: 100 },
    { item_price_id: 'cb_setup', item_type: 'charge', quantity: 1, unit_price: 9900 },
  ],
  current_term_start: START,
  current_term_end: START + 31 * DAY,
  next_billing_at: START + 31 * DAY,
  created_at: START,
  started_at: START,
  updated_at: START,
  resource_version: START * 1000,
  deleted: false,
  ...fields,
})
export const chargebeeInvoice = (fields: Fields = {}): Fields => ({
  id: 'cb_inv_1',
  object: 'invoice',
  customer_id: 'cb_cus_1',
  subscription_id: 'cb_sub_1',
  status: 'payment_due',
  date: START,
  due_date: START,
  sub_total: 2000,
  tax: 361,
  total: 2261,
  amount_paid: 0,
  amount_due: 2261,
  currency_code: 'USD',
  line_items: [
    { id: 'li_1', entity_id: 'cb_price_1', entity_type: 'plan_item_price', quantity: 2, amount: 2000, tax_amount: 361 },
  ],
  updated_at: START,
  resource_version: START * 1000,
  deleted: false,
  ...fields,
})
export const chargebeeCustomer = (fields: Fields = {}): Fields => ({
  id: 'cb_cus_1',
  object: 'customer',
  first_name: 'Ada',
  last_name: 'Example',
  email: 'chargebee@example.com',
  taxability: 'taxable',
  preferred_currency_code: 'USD',
  primary_payment_source_id: 'pm_cb_1',
  meta_data: { consumer_external_id: 'user_chargebee' },
  created_at: START,
  updated_at: START,
  resource_version: START * 1000,
  deleted: false,
  ...fields,
})
export const chargebeeSource = (fields: Fields = {}): Fields => ({
  id: 'pm_cb_1',
  object: 'payment_source',
  customer_id: 'cb_cus_1',
  type: 'card',
  status: 'valid',
  card: { first_name: 'Ada', last4: '4242', brand: 'visa', funding_type: 'credit', expiry_month: 4, expiry_year: 2030 },
  created_at: START,
  updated_at: START,
  resource_version: START * 1000,
  deleted: false,
  ...fields,
})
let events = 0
export const chargebeeEvent = (event_type: string, content: Fields, occurred_at = START): Fields => {
  events += 1
  return { id: `ev_${events}`, object: 'event', api_version: 'v2', event_type, occurred_at, content }
}

// Square

export const squareSubscription = (fields: Fields = {}): Fields => ({
  id: 'sq-sub-1',
  customer_id: 'SQCUS1',
  location_id: 'LOC1',
  plan_variation_id: 'SQPLAN1',
  start_date: day(0),
  charged_through_date: day(30),
  status: 'ACTIVE',
  card_id: 'ccof:1',
  timezone: 'America/New_York',
  created_at: at(0),
  version: 1,
  ...fields,
})
export const squareInvoice = (fields: Fields = {}): Fields => ({
  id: 'inv:1',
  invoice_number: '1',
  title: 'Pro',
  subscription_id: 'sq-sub-1',
  status: 'UNPAID',
  payment_requests: [
    {
      uid: 'r1',
      due_date: day(10),
      computed_amount_money: { amount: 2261, currency: 'USD' },
      total_completed_amount_money: { amount: 0, currency: 'USD' },
    },
  ],
  primary_recipient: {
    customer_id: 'SQCUS1',
    given_name: 'Ada',
    family_name: 'Example',
    email_address: 'square@example.com',
  },
  public_url: 'https://squareup.com/pay-invoice/1',
  created_at: at(0),
  version: 1,
  ...fields,
})
export const squareCard = (fields: Fields = {}): Fields => ({
  id: 'ccof:1',
  customer_id: 'SQCUS1',
  card_brand: 'VISA',
  last_4: '1111',
  exp_month: 11,
  exp_year: 2030,
  card_type: 'CREDIT',
  cardholder_name: 'Ada Example',
  enabled: true,
  version: 1,
  ...fields,
})
export const squareCustomer = (fields: Fields = {}): Fields => ({
  id: 'SQCUS1',
  given_name: 'Ada',
  family_name: 'Example',
  email_address: 'square@example.com',
  reference_id: 'user_square',
  created_at: at(0),
  version: 1,
  ...fields,
})
export const squareEvent = (type: string, object: Fields, created_at = at(0), more: Fields = {}): Fields => {
  events += 1
  const name = type.slice(0, type.indexOf('.'))
  const data = { type: name, id: object.id, object: { [name]: object }, ...more }
  return { event_id: `sq_evt_${events}`, merchant_id: 'M1', type, created_at, data }
}

// Braintree

/** A value as Braintree writes it: a list of objects with its members' name, an object, or a text. */
function xmlOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return `<${name} nil="true"/>`
  if (Array.isArray(value)) {
    const member = name === 'status-history' ? 'status-event' : name.replace(/s$/, '')
    return `<${name} type="array">${value.map((one) => xmlOf(member, one)).join('')}</${name}>`
  }
  if (typeof value === 'object')
    return `<${name}>${Object.entries(value)
      .map(([key, inner]) => xmlOf(key, inner))
      .join('')}</${name}>`
  return `<${name}>${value}</${name}>`
}
export const braintreeSubscription = (fields: Fields = {}): Fields => ({
  id: 'bt1',
  'plan-id': 'bt_plan_1',
  status: 'Active',
  price: '19.00',
  'add-ons': [{ id: 'bt_seats', name: 'Seats', amount: '1.00', quantity: '4' }],
  discounts: [],
  'billing-period-start-date': day(0),
  'billing-period-end-date': day(30),
  'next-billing-date': day(31),
  'first-billing-date': day(0),
  'trial-period': 'false',
  'payment-method-token': 'bt_token',
  'created-at': at(0),
  'updated-at': at(0),
  transactions: [
    { id: 'bt_tx', customer: { id: 'bt_cus_1', 'custom-fields': { 'consumer-external-id': 'user_braintree' } } },
  ],
  'status-history': [{ status: 'Active', 'currency-iso-code': 'USD' }],
  ...fields,
})
export const braintreeEvent = (kind: string, subscription: Fields, timestamp = at(0)): { xml: string } => ({
  xml: xmlOf('notification', { kind, timestamp, subject: { subscription } }),
})
