import type { VendorApi } from './api'
import type { ApiPattern, ObjectsCall, ThinEvents, ThinObject } from './calls'
import type { FetchedKind, StateKind } from './kinds'
import { at, isObject, type Json, objects, text } from './lib/json'
import { isPathId } from './lib/read'
import { isoTime } from './lib/time'
import { REFRESHED_INVOICES, REFRESHED_SUBSCRIPTIONS } from './limits'

/** An access token. Its beginning says which of GoCardless's environments knows it. */
const KEY = /^(live|sandbox)_[\w-]{16,200}$/

const isLive = (key: string) => key.startsWith('live_')

/** What objects are here, by GoCardless's name of their type. */
const KINDS = { subscriptions: 'subscription', payments: 'invoice', customers: 'customer' } as const
type Type = keyof typeof KINDS

/** GoCardless's name of a kind; null if it has none. */
export function typeOfKind(kind: FetchedKind): Type | null {
  return (Object.keys(KINDS) as Type[]).find((type) => KINDS[type] === kind) ?? null
}

/** What an object of a type becomes; null if it becomes no state. */
export function kindOfType(type: string): StateKind | null {
  return Object.hasOwn(KINDS, type) ? KINDS[type as Type] : null
}

/**
 * The actions that change the invoice of a payment. Most events are about submissions, payouts and fees. They do not, and GoCardless limits the requests
 * of an account.
 */
const OF_PAYMENTS = [
  'created',
  'customer_approval_granted',
  'customer_approval_denied',
  'confirmed',
  'cancelled',
  'failed',
  'charged_back',
  'chargeback_cancelled',
  'resubmission_requested',
].map((action) => `payments.${action}`)

/** https://developer.gocardless.com/api-reference/#event-types */
export const gocardlessThin: ThinEvents = {
  names: ['subscriptions.*', ...OF_PAYMENTS],
  objects: ['subscriptions', 'payments'],
  all: true,
}

/** The objects of an answer, which has them under the name of their type: one, or a list. @param customer whose they are, if that is known */
const answered = (type: Type, customer: string | null) => (body: Json) => ({
  objects: (isObject(body[type]) ? [body[type]] : objects(body[type]))
    .filter(({ id }) => text(id) !== null)
    .map((one) => (customer === null ? one : { ...one, customer })),
  more: text(at(body, 'meta', 'cursors', 'after')) !== null,
})

function ofOne(type: Type, id: string, customer: string | null): ObjectsCall & ThinObject['call'] {
  const pattern: ApiPattern = `/${type}/{id}`
  return { kind: KINDS[type], pattern, ids: { id }, objects: answered(type, customer) }
}

/** The object that an event names: that of its own type. */
function namedByGocardless(event: Json): ThinObject | null {
  const { resource_type: type, action, links, data } = event
  if (data !== undefined || (type !== 'subscriptions' && !OF_PAYMENTS.includes(`${type}.${action}`))) return null
  const named = type as 'subscriptions' | 'payments'
  const id = at(links, named.slice(0, -1))
  return isPathId(id) ? { id, call: ofOne(named, id, null) } : null
}

/**
 * GoCardless's API. A read-only token can read everything. The API does not tell whether a token is read-only.
 *
 * - https://developer.gocardless.com/api-reference/#making-requests
 * - https://developer.gocardless.com/api-reference/#core-endpoints-subscriptions
 */
export const gocardlessApi: VendorApi = {
  vendor: 'GoCardless',
  origin: (key) => (isLive(key) ? 'https://api.gocardless.com' : 'https://api-sandbox.gocardless.com'),
  headers: (key) => ({ Authorization: `Bearer ${key}`, 'GoCardless-Version': '2015-07-06' }),

  checkKey: (key) =>
    KEY.test(key)
      ? null
      : {
          problem: 'malformed',
          why: 'Enter an access token of GoCardless with read-only access: live_… or sandbox_….',
        },
  livemodeOf: isLive,

  calls: {
    ofCustomer: (id) => [
      ofOne('customers', id, null),
      {
        kind: 'subscription',
        pattern: '/subscriptions',
        query: { customer: id, limit: String(REFRESHED_SUBSCRIPTIONS) },
        objects: answered('subscriptions', id),
      },
      // The newest first.
      {
        kind: 'invoice',
        pattern: '/payments',
        query: { customer: id, limit: String(REFRESHED_INVOICES) },
        objects: (body) => ({ ...answered('payments', id)(body), more: false }),
      },
    ],
    ofCheckout: () => null,
    ofObject: (kind, id, customer) => {
      const type = typeOfKind(kind)
      return type && isPathId(id) ? ofOne(type, id, type === 'customers' ? null : customer) : null
    },
    ofEvent: namedByGocardless,
    // They name only the mandate, which is never deleted.
    owner: ({ customer, links }) => {
      const id = at(links, 'mandate')
      if (customer !== undefined || !isPathId(id)) return null
      return {
        call: { pattern: '/mandates/{id}', ids: { id } },
        customerIn: ({ mandates }) => text(at(mandates, 'links', 'customer')),
      }
    },
    customerIn: ({ customer }) => text(customer),
    rest: () => [],
    createdAt: ({ created_at }) => isoTime(created_at),
    versionOf: () => null,
    headers: () => ({}),
  },
  thin: gocardlessThin,
  reads: [
    {
      kind: 'subscriptions',
      permission: 'Read-only access',
      probe: { pattern: '/subscriptions', query: { limit: '1' } },
    },
  ],
  sightOf: ({ object: { type, id } }) =>
    id !== null && (type === 'mandates' || (type !== null && kindOfType(type) !== null))
      ? { pattern: `/${type}/{id}` as ApiPattern, id }
      : null,

  errorCode: ({ error }) => text(at(error, 'errors', 0, 'reason')) ?? text(at(error, 'type')),
  isKeyRefused: (status) => status === 401,
}
