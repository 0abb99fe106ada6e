import { at, type Fields } from './payloads-more'

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
