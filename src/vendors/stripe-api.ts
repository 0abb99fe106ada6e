import type { ApiRead, VendorApi } from './api'
import type { ApiPattern } from './calls'
import { at, text } from './lib/json'
import { stripeCalls, stripeLists } from './stripe-calls'
import { stripePastEvents } from './stripe-past-events'
import { stripeThin } from './stripe-thin'

/**
 * The version of Stripe's API that is asked for: the one of the SDK that the tests compare with. Without it, the answer would have
 * the version that the account happens to have.
 * https://docs.stripe.com/api/versioning
 */
export const STRIPE_VERSION = '2026-10-28.endive'

/**
 * Stripe's API, read with a restricted key. Stripe does not say what a key can do, so each list is tried. A restricted key that can
 * also write cannot be told apart.
 * https://docs.stripe.com/keys/restricted-api-keys
 */
export const stripeApi: VendorApi = {
  vendor: 'Stripe',
  origin: () => 'https://api.stripe.com',
  headers: (key) => ({ Authorization: `Bearer ${key}`, 'Stripe-Version': STRIPE_VERSION }),

  checkKey(key) {
    if (/^sk_/.test(key))
      return {
        problem: 'too_powerful',
        why: 'A key that begins with sk_ can do anything in the account. Create a restricted key (rk_…) that has only the permissions it needs.',
      }
    if (/^rk_(live|test)_[A-Za-z0-9]{8,250}$/.test(key)) return null
    return { problem: 'malformed', why: 'A restricted key of Stripe begins with rk_live_ or rk_test_.' }
  },
  livemodeOf: (key) => key.startsWith('rk_live_'),

  pastEvents: stripePastEvents,
  calls: stripeCalls,
  imports: stripeLists,
  thin: stripeThin,
  reads: [
    read('customers', 'Customers', '/v1/customers'),
    read('subscriptions', 'Subscriptions', '/v1/subscriptions'),
    read('invoices', 'Invoices', '/v1/invoices'),
    read('payment_methods', 'PaymentMethods', '/v1/payment_methods'),
    read('checkout_sessions', 'Checkout Sessions', '/v1/checkout/sessions'),
    read('prices', 'Prices', '/v1/prices'),
    read('products', 'Products', '/v1/products'),
    read('events', 'Events', '/v1/events'),
    read('webhook_endpoints', 'Webhook Endpoints', '/v1/webhook_endpoints'),
  ],
  /** Stripe keeps events for 30 days. Thin ones, which it names `v1.…` and `v2.…`, are not among them. */
  sightOf: ({ vendor_event_id, event_type }) =>
    /^v\d+\./.test(event_type) ? null : { pattern: '/v1/events/{id}', id: vendor_event_id },

  errorCode: ({ error }) => text(at(error, 'code')) ?? text(at(error, 'type')),
  isKeyRefused: (status) => status === 401,
}

function read(kind: string, permission: string, pattern: ApiPattern): ApiRead {
  return { kind, permission, probe: { pattern, query: { limit: '1' } } }
}
