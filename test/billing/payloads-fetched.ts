import { at, type Fields } from './payloads-more'

/*
 * Objects as the APIs of vendors answer them whose events only name them, and those events: in the shapes of their documentation, with
 * made-up ids.
 */

type Held = Fields & { id: string }

/** The day of its version is when it changed. */
export function recurlySubscription(day: number, fields: Fields = {}): Held {
  return {
    id: 'recsub1',
    object: 'subscription',
    uuid: '63ab531e1d5b1d47eaf1ef44eeb853c3',
    account: { id: 'recacc1', object: 'account', code: 'user_recurly', email: 'a@acme.dev' },
    plan: { id: 'recplan1', object: 'plan', code: 'gold', name: 'Gold' },
    state: 'active',
    quantity: 2,
    unit_amount: 9.5,
    currency: 'EUR',
    add_ons: [],
    current_period_started_at: at(0),
    current_period_ends_at: at(30),
    auto_renew: true,
    created_at: at(0),
    updated_at: at(day),
    ...fields,
  }
}

export function recurlyInvoice(day: number, fields: Fields = {}): Held {
  return {
    id: 'recinv1',
    object: 'invoice',
    type: 'charge',
    number: '1001',
    origin: 'renewal',
    account: { id: 'recacc1', object: 'account', code: 'user_recurly', email: 'a@acme.dev' },
    subscription_ids: ['recsub1'],
    state: 'paid',
    currency: 'EUR',
    subtotal: 19,
    discount: 0,
    tax: 3.61,
    total: 22.61,
    paid: 22.61,
    balance: 0,
    line_items: [{ id: 'recline1', plan_code: 'gold', quantity: 2, subtotal: 19, discount: 0, tax: 3.61 }],
    has_more_line_items: false,
    created_at: at(0),
    updated_at: at(day),
    closed_at: at(day),
    ...fields,
  }
}

/** An event about an object. @param webhook_id of the notification, which is a header */
export function recurlyEvent({ object, id }: Held, event_type: string, day: number, webhook_id?: string): Fields {
  const object_type = object === 'invoice' ? 'charge_invoice' : object
  const event = { id, object_type, site_id: 'recsite1', event_type, event_time: at(day), account_code: 'user_recurly' }
  return webhook_id === undefined ? event : { ...event, webhook_id }
}

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
