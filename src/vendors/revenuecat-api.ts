import type { VendorApi } from './api'
import type { ObjectsCall, ThinEvents, ThinObject } from './calls'
import { type Json, objects, text, texts } from './lib/json'
import { isId } from './lib/read'
import { isoMillis } from './lib/time'
import { REFRESHED_SUBSCRIPTIONS } from './limits'

/** A key as it is entered: the project's id, which every path has, and the secret key. */
const KEY = /^(proj\w{1,60}):(sk_\w{8,200})$/

/**
 * Events after which a customer's subscriptions may differ. Others are about purchases of one time, invoices, experiments and currencies.
 * https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
 */
export const revenuecatThin: ThinEvents = {
  names: [
    'INITIAL_PURCHASE',
    'RENEWAL',
    'CANCELLATION',
    'UNCANCELLATION',
    'SUBSCRIPTION_PAUSED',
    'SUBSCRIPTION_EXTENDED',
    'BILLING_ISSUE',
    'EXPIRATION',
    'PRODUCT_CHANGE',
    'REFUND_REVERSED',
    'TRANSFER',
  ],
  objects: ['transaction'],
  all: true,
}

const SUBSCRIPTIONS = '/v2/projects/{project}/customers/{id}/subscriptions'

const items = (body: Json) => (body.object === 'list' && Array.isArray(body.items) ? objects(body.items) : null)

/**
 * All subscriptions of a customer. Each gets the id that was asked for beside the vendor's fields: the app may have named the customer
 * after RevenueCat did, and then that is another one than its `customer_id`.
 */
function ofCustomer(id: string): ObjectsCall & { kind: 'subscription'; ids: { id: string } } {
  return {
    kind: 'subscription',
    pattern: SUBSCRIPTIONS,
    ids: { id },
    query: { limit: String(REFRESHED_SUBSCRIPTIONS) },
    objects: (body) => ({
      objects: (items(body) ?? [])
        .filter((one) => one.object === 'subscription' && text(one.id) !== null)
        .map((one) => ({ ...one, app_user_id: id })),
      more: text(body.next_page) !== null,
    }),
  }
}

/** The customer whose subscriptions are to be read; after a transfer, the one who has them now. */
export function namedByRevenuecat(event: Json): ThinObject | null {
  const id = text(event.app_user_id) ?? texts(event.transferred_to)[0] ?? null
  if (!revenuecatThin.names.includes(text(event.type) ?? '') || event.data !== undefined || !isId(id)) return null
  return { id, call: ofCustomer(id), list: { of: 'customer', isEmpty: (body) => items(body)?.length === 0 } }
}

/**
 * RevenueCat's API, version 2. A secret key belongs to a project, whose id is entered with it, and has permissions that it cannot be asked
 * for. Both modes are behind one key.
 *
 * - https://www.revenuecat.com/docs/projects/authentication
 * - https://www.revenuecat.com/docs/api-v2/subscription-data-model
 * - https://www.revenuecat.com/docs/api-v2/customer/resources
 */
export const revenuecatApi: VendorApi = {
  vendor: 'RevenueCat',
  origin: () => 'https://api.revenuecat.com',
  headers: (key) => ({ Authorization: `Bearer ${KEY.exec(key)?.[2] ?? ''}` }),
  ids: (key) => ({ project: KEY.exec(key)?.[1] ?? '' }),
  anyIds: true,

  checkKey: (key) =>
    KEY.test(key)
      ? null
      : {
          problem: 'malformed',
          why: 'Enter the id of the RevenueCat project, a colon and a secret key of version 2: proj…:sk_….',
        },
  livemodeOf: () => null,

  calls: {
    ofCustomer: (id) => [ofCustomer(id)],
    ofCheckout: () => null,
    // A subscription is read with all that its customer has.
    ofObject: (kind, id, customer) => {
      if (kind !== 'subscription' || customer === null || !isId(customer)) return null
      const call = ofCustomer(customer)
      const only = (body: Json) => ({ objects: call.objects(body).objects.filter((one) => one.id === id), more: false })
      return { ...call, objects: only }
    },
    ofEvent: namedByRevenuecat,
    customerIn: ({ customer_id }) => text(customer_id),
    rest: () => [],
    createdAt: ({ starts_at }) => isoMillis(starts_at),
    versionOf: () => null,
    headers: () => ({}),
  },
  thin: revenuecatThin,
  reads: [
    {
      kind: 'subscriptions',
      permission: 'customer_information:subscriptions:read',
      // Nobody has this id. A key without the permission is refused before that is noticed.
      probe: {
        pattern: '/v2/projects/{project}/customers/platform-api-probe/subscriptions',
        query: { limit: '1' },
      },
    },
  ],
  sightOf: ({ customer }) => (customer === null ? null : { pattern: SUBSCRIPTIONS, id: customer }),

  errorCode: ({ type }) => text(type),
  isKeyRefused: (status) => status === 401,
}
