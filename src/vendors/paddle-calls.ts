import { iso } from '../lib/time'
import { type ListCall, pageOf, type VendorCalls, type VendorLists } from './calls'
import { prose, word } from './lib/bounded'
import { at, flag, isObject, type Json, objects, text } from './lib/json'
import { isId } from './lib/read'
import { isoTime } from './lib/time'
import {
  MAX_METHODS_OF_CUSTOMER,
  PADDLE_PAGE,
  PADDLE_TRANSACTIONS_PAGE,
  PAGE_OF_CALLS,
  REFRESHED_INVOICES,
  REFRESHED_SUBSCRIPTIONS,
} from './limits'

/** Every answer has its entity, or a page of them, in `data`. */
const entity = ({ data }: Json) => ({ objects: isObject(data) ? [data] : [], more: false })
const list = (body: Json) => ({
  objects: objects(body.data),
  more: flag(at(body, 'meta', 'pagination', 'has_more')) ?? false,
})

const listed = (
  kind: ListCall['kind'],
  pattern: ListCall['pattern'],
  most: number,
  filter: (since: number) => Record<string, string> = () => ({}),
): ListCall => ({
  kind,
  pattern,
  most,
  query: ({ after, limit, since }) => ({
    ...filter(since),
    order_by: 'id[DESC]',
    per_page: String(limit),
    ...(after !== null && { after }),
  }),
  page: (body) => pageOf(body.data, at(body, 'meta', 'pagination', 'has_more')),
})

const PATH_OF = {
  customer: '/customers/{id}',
  subscription: '/subscriptions/{id}',
  invoice: '/transactions/{id}',
} as const

/** https://developer.paddle.com/api-reference/about/pagination */
export const paddleCalls: VendorCalls = {
  ofCustomer: (id) => [
    { kind: 'customer', pattern: '/customers/{id}', ids: { id }, objects: entity },
    {
      kind: 'subscription',
      pattern: '/subscriptions',
      query: { customer_id: id, per_page: String(REFRESHED_SUBSCRIPTIONS), order_by: 'id[DESC]' },
      objects: list,
    },
    {
      kind: 'invoice',
      pattern: '/transactions',
      query: { customer_id: id, per_page: String(REFRESHED_INVOICES), order_by: 'id[DESC]' },
      objects: (body) => ({ ...list(body), more: false }),
    },
  ],

  // A checkout of Paddle's is a transaction.
  ofCheckout: (id) =>
    /^txn_/.test(id) && isId(id)
      ? { kind: 'invoice', pattern: '/transactions/{id}', ids: { id }, objects: entity }
      : null,

  ofObject: (kind, id, customer) => {
    if (!isId(id)) return null
    if (kind !== 'payment_method') return { kind, pattern: PATH_OF[kind], ids: { id }, objects: entity }
    if (customer === null || !isId(customer)) return null
    return { kind, pattern: '/customers/{customer}/payment-methods/{id}', ids: { customer, id }, objects: entity }
  },

  // Its events contain what they are about.
  ofEvent: () => null,

  customerIn: (object) => text(object.customer_id),

  rest: () => [], // Paddle cuts no lists

  createdAt: ({ created_at }) => isoTime(created_at),

  versionOf: ({ updated_at }) => isoTime(updated_at),

  headers: () => ({}),
}

/** https://developer.paddle.com/api-reference/about/pagination */
export const paddleLists: VendorLists = {
  lists: {
    customers: listed('customer', '/customers', PADDLE_PAGE),
    subscriptions: listed('subscription', '/subscriptions', PADDLE_PAGE),
    invoices: listed('invoice', '/transactions', PADDLE_TRANSACTIONS_PAGE, (since) => ({
      'created_at[GTE]': iso(since),
    })),
    prices: listed(null, '/prices', PADDLE_PAGE, () => ({ include: 'product', status: 'active,archived' })),
  },
  paymentMethods: {
    default: null, // It does not say which one that is.
    all: {
      ...listed('payment_method', '/customers', PAGE_OF_CALLS),
      each: ({ id }) => ({
        kind: 'payment_method',
        pattern: '/customers/{id}/payment-methods',
        ids: { id: String(id) },
        query: { per_page: String(MAX_METHODS_OF_CUSTOMER) },
        objects: list,
      }),
    },
  },
  priceOf: ({ id, name, product_id, product, status }) => {
    const ref = word(id)
    const of = { product: word(product_id), product_name: prose(at(product as Json, 'name')) }
    if (!ref) return null
    return { ref, name: prose(name), ...of, active: status === undefined ? null : status === 'active' }
  },
  isCursorGone: () => false, // A page begins after an id, whether that is there or not.
}
