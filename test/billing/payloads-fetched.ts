import { at, day, type Fields } from './payloads-more'

/*
 * Objects as the APIs of vendors answer them whose events only name them, and those events: in the shapes of their documentation, with
 * made-up ids.
 */

type Held = Fields & { id: string }

const millis = (day: number) => Date.parse(at(day))

export function revenuecatSubscription(_day: number, fields: Fields = {}): Held {
  const product = { object: 'product', id: 'prodrc1', store_identifier: 'com.example.pro' }
  const entitlement = { object: 'entitlement', id: 'entlrc1', lookup_key: 'pro', products: { items: [product] } }
  return {
    object: 'subscription',
    id: 'rcsub1',
    customer_id: 'user_revenuecat',
    original_customer_id: 'user_revenuecat',
    product_id: 'prodrc1',
    starts_at: millis(0),
    current_period_starts_at: millis(0),
    current_period_ends_at: millis(30),
    ends_at: millis(30),
    gives_access: true,
    pending_payment: false,
    auto_renewal_status: 'will_renew',
    status: 'active',
    entitlements: { object: 'list', items: [entitlement] },
    environment: 'production',
    store: 'app_store',
    store_subscription_identifier: '100000000000000',
    ownership: 'purchased',
    ...fields,
  }
}

/** An event about a customer's subscription. @param id of the event */
export function revenuecatEvent({ customer_id }: Held, type: string, day: number, id = `event-${type}-${day}`): Fields {
  const event = {
    id,
    type: type === 'updated' || /^of_/.test(type) ? 'RENEWAL' : type,
    event_timestamp_ms: millis(day),
    app_user_id: customer_id,
    original_app_user_id: customer_id,
    aliases: [],
    product_id: 'com.example.pro',
    entitlement_ids: ['pro'],
    transaction_id: '100000000000001',
    original_transaction_id: '100000000000000',
    environment: 'PRODUCTION',
    store: 'APP_STORE',
    price_in_purchased_currency: 7.99,
    currency: 'EUR',
  }
  return { api_version: '1.0', event }
}

export const GOCARDLESS_MANDATE: Held = {
  id: 'MD000AMA19XGEC',
  created_at: at(0, 3),
  status: 'active',
  scheme: 'bacs',
  metadata: {},
  links: { customer: 'CU0001', customer_bank_account: 'BA0001', creditor: 'CR0001' },
}

export const GOCARDLESS_CUSTOMER: Held = {
  id: 'CU0001',
  created_at: at(0, 3),
  email: 'ada@acme.dev',
  given_name: 'Ada',
  family_name: 'Lovelace',
  company_name: null,
  address_line1: '1 Main Street',
  city: 'London',
  postal_code: 'E1 1AA',
  country_code: 'GB',
  language: 'en',
  metadata: {},
}

export function gocardlessSubscription(_day: number, fields: Fields = {}): Held {
  return {
    id: 'SB0003JJQ2MR06',
    created_at: at(0, 3),
    amount: 1900,
    currency: 'GBP',
    status: 'active',
    name: 'Pro',
    start_date: day(0),
    end_date: null,
    interval: 1,
    interval_unit: 'monthly',
    day_of_month: null,
    month: null,
    count: null,
    metadata: { price_id: 'price_gc', quantity: '3', consumer_external_id: 'user_gocardless' },
    payment_reference: null,
    upcoming_payments: [{ charge_date: day(31), amount: 1900 }],
    app_fee: null,
    earliest_charge_date_after_resume: null,
    links: { mandate: GOCARDLESS_MANDATE.id },
    retry_if_possible: true,
    ...fields,
  }
}

export function gocardlessPayment(fields: Fields = {}): Held {
  return {
    id: 'PM0001',
    created_at: at(0, 3),
    charge_date: day(3),
    amount: 1900,
    amount_refunded: 0,
    currency: 'GBP',
    status: 'pending_submission',
    description: 'Pro',
    reference: 'ACME-1',
    metadata: {},
    links: { mandate: GOCARDLESS_MANDATE.id, creditor: 'CR0001', subscription: 'SB0003JJQ2MR06' },
    ...fields,
  }
}

/** An event of a delivery, about a subscription or a payment. @param id of the event */
export function gocardlessEvent({ id: object }: Held, action: string, day: number, id = `EV-${action}-${day}`): Fields {
  const [resource_type, name] = object.startsWith('PM') ? ['payments', 'payment'] : ['subscriptions', 'subscription']
  const details = { origin: 'gocardless', cause: 'of_the_tests', description: 'Of the tests.' }
  return { id, created_at: at(day, 3), resource_type, action, links: { [name]: object }, details, metadata: {} }
}
