import { SECOND } from '../lib/time'
import {
  type ApiPattern,
  type ListCall,
  type ObjectsCall,
  one,
  pageOf,
  type VendorCalls,
  type VendorLists,
} from './calls'
import type { FetchedKind } from './kinds'
import { prose, word, wordOf } from './lib/bounded'
import { at, flag, idOf, isObject, type Json, objects, text } from './lib/json'
import { isId } from './lib/read'
import { isoSeconds } from './lib/time'
import {
  MAX_LINES,
  MAX_METHODS_OF_CUSTOMER,
  MAX_SUBSCRIPTION_ITEMS_KEPT,
  PAGE_OF_CALLS,
  REFRESHED_INVOICES,
  REFRESHED_SUBSCRIPTIONS,
  STRIPE_PAGE,
} from './limits'
import { namedByStripe, PATH_OF } from './stripe-thin'

const list = (body: Json) => ({ objects: objects(body.data), more: flag(body.has_more) ?? false })

/** https://docs.stripe.com/api/pagination */
const listed = (
  kind: ListCall['kind'],
  pattern: ApiPattern,
  filter: (since: number) => Record<string, string> = () => ({}),
): ListCall => ({
  kind,
  pattern,
  most: STRIPE_PAGE,
  query: ({ after, limit, since }) => ({
    ...filter(since),
    limit: String(limit),
    ...(after !== null && { starting_after: after }),
  }),
  page: ({ data, has_more }) => pageOf(data, has_more),
})

/** https://docs.stripe.com/api */
export const stripeCalls: VendorCalls = {
  ofCustomer: (id) => [
    { kind: 'customer', pattern: '/v1/customers/{id}', ids: { id }, objects: one },
    {
      kind: 'subscription',
      pattern: '/v1/subscriptions',
      // Without `status=all`, canceled ones are left out.
      query: { customer: id, status: 'all', limit: String(REFRESHED_SUBSCRIPTIONS) },
      objects: list,
    },
    // The newest first.
    {
      kind: 'invoice',
      pattern: '/v1/invoices',
      query: { customer: id, limit: String(REFRESHED_INVOICES) },
      objects: (body) => ({ ...list(body), more: false }),
    },
  ],

  ofCheckout: (id) =>
    /^cs_/.test(id) && isId(id)
      ? { kind: 'checkout', pattern: '/v1/checkout/sessions/{id}', ids: { id }, objects: one }
      : null,

  // The id is that of the payment, or, of a checkout that cost nothing, that of the checkout.
  ofItems: (id) => {
    if (!isId(id)) return null
    const kind = 'checkout_items'
    const withItems = (body: Json) => ({
      objects: objects(body.data)
        .filter(({ line_items }) => isObject(line_items))
        .map(itemsAlone),
      more: false,
    })
    if (id.startsWith('cs_')) {
      const query = { 'expand[0]': 'line_items' }
      const only = (session: Json) => withItems({ data: [session] })
      return { kind, pattern: '/v1/checkout/sessions/{id}', ids: { id }, query, objects: only }
    }
    const query = { payment_intent: id, limit: '1', 'expand[0]': 'data.line_items' }
    return id.startsWith('pi_') ? { kind, pattern: '/v1/checkout/sessions', query, objects: withItems } : null
  },

  ofObject: (kind, id) => (isId(id) ? { kind, pattern: PATH_OF[kind], ids: { id }, objects: one } : null),

  ofEvent: namedByStripe,

  customerIn: (object) => (object.object === 'customer' ? text(object.id) : idOf(object.customer)),

  rest: (kind, object) => REST[kind]?.(object) ?? [],

  createdAt: ({ created }) => isoSeconds(created),

  versionOf: () => null,

  // A version is a date and a name. Anything else that an event has there is not sent on.
  headers: (version) =>
    /^\d{4}-\d\d-\d\d(\.\w+)?$/.test(version ?? '') ? { 'Stripe-Version': version as string } : {},
}

/** https://docs.stripe.com/api/pagination */
export const stripeLists: VendorLists = {
  lists: {
    customers: listed('customer', '/v1/customers'),
    subscriptions: listed('subscription', '/v1/subscriptions', () => ({ status: 'all' })),
    invoices: listed('invoice', '/v1/invoices', (since) => ({ 'created[gte]': String(Math.floor(since / SECOND)) })),
    prices: listed(null, '/v1/prices', () => ({ 'expand[0]': 'data.product' })),
  },
  paymentMethods: {
    // Of subscriptions that have not ended: a list of all payment methods of an account does not exist.
    default: {
      ...listed('payment_method', '/v1/subscriptions', () => ({
        'expand[0]': 'data.default_payment_method',
        'expand[1]': 'data.customer.invoice_settings.default_payment_method',
      })),
      inside: (subscription) =>
        [
          subscription.default_payment_method,
          at(subscription, 'customer', 'invoice_settings', 'default_payment_method'),
        ].filter((one): one is Json => isObject(one) && one.object === 'payment_method'),
    },
    all: {
      ...listed('payment_method', '/v1/customers'),
      most: PAGE_OF_CALLS,
      each: ({ id }) => ({
        kind: 'payment_method',
        pattern: '/v1/customers/{id}/payment_methods',
        ids: { id: String(id) },
        query: { limit: String(MAX_METHODS_OF_CUSTOMER) },
        objects: list,
      }),
    },
  },
  priceOf: ({ id, nickname, product, active }) => {
    const ref = word(id)
    const name = prose(isObject(product) ? product.name : null)
    if (!ref) return null
    return { ref, name: prose(nickname), product: wordOf(product), product_name: name, active: flag(active) }
  },
  isCursorGone: (status, code) => status === 400 && code === 'resource_missing',
}

/** What of a checkout says what it sold. The rest is about the buyer, and is in the checkout's own event. */
function itemsAlone({ id, object, mode, customer, payment_intent, livemode, created, line_items }: Json): Json {
  return { id, object, mode, customer, payment_intent, livemode, created, line_items }
}

/**
 * A list inside an object has only the first ten or twenty entries. The list's own address has up to a hundred, which is as many as are kept.
 * https://docs.stripe.com/api/pagination
 */
const REST: Partial<Record<FetchedKind, (object: Json) => ReturnType<VendorCalls['rest']>>> = {
  subscription: (object) =>
    restOf(object, 'items', {
      pattern: '/v1/subscription_items',
      query: { subscription: String(object.id), limit: String(MAX_SUBSCRIPTION_ITEMS_KEPT) },
      objects: list,
    }),
  invoice: (object) =>
    restOf(object, 'lines', {
      pattern: '/v1/invoices/{id}/lines',
      ids: { id: String(object.id) },
      query: { limit: String(MAX_LINES) },
      objects: list,
    }),
  checkout_items: (object) =>
    restOf(object, 'line_items', {
      pattern: '/v1/checkout/sessions/{id}/line_items',
      ids: { id: String(object.id) },
      query: { limit: String(MAX_LINES) },
      objects: list,
    }),
}

function restOf(
  object: Json,
  field: 'items' | 'lines' | 'line_items',
  call: Omit<ObjectsCall, 'kind'>,
): ReturnType<VendorCalls['rest']> {
  if (at(object, field, 'has_more') !== true) return []
  const add = (rest: Json[], more: boolean) => ({
    ...object,
    [field]: { ...(object[field] as Json), data: rest, has_more: more },
  })
  return [{ call, add }]
}
