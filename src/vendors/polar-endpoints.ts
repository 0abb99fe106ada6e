import type { VendorHost } from './api'
import {
  bodyOfJson,
  type EndpointFacts,
  markIn,
  markText,
  type VendorEndpoints,
  type WantedEndpoint,
} from './endpoints'
import { at, flag, type Json, objects, text, texts } from './lib/json'
import { millisOf } from './lib/time'

/**
 * Polar's webhook endpoints. They show their secrets, and our mark is in the name. Production and the sandbox are separate: they have the same
 * form of keys, and neither knows the keys of the other.
 * https://polar.sh/docs/api-reference/webhooks/endpoints/create
 */
export const polarEndpoints: VendorEndpoints = {
  vendor: 'Polar',
  host: ({ livemode }) => (livemode ? PRODUCTION : SANDBOX),
  checkKey: (key) =>
    /^polar_oat_\w{20,250}$/.test(key)
      ? null
      : { problem: 'malformed', why: 'An organization access token of Polar begins with polar_oat_.' },
  livemodeOf: () => null,
  permission: 'webhooks:write',
  limit: null,
  needed: [
    'customer.created',
    'customer.deleted',
    'customer.updated',
    'order.created',
    'order.paid',
    'order.refunded',
    'order.updated',
    'subscription.active',
    'subscription.canceled',
    'subscription.created',
    'subscription.past_due',
    'subscription.revoked',
    'subscription.uncanceled',
    'subscription.updated',
  ],
  // Pauses come with a subscription.updated too.
  useful: ['refund.created', 'refund.updated', 'subscription.paused', 'subscription.resumed'],
  all: null,
  list: {
    pattern: '/v1/webhooks/endpoints',
    query: ({ after }) => ({ limit: '100', page: after ?? '1' }),
    page({ items, pagination }, { after }) {
      const pages = at(pagination, 'max_page')
      if (!Array.isArray(items) || typeof pages !== 'number') return null
      const page = Number(after ?? 1)
      return {
        endpoints: objects(items).flatMap((one) => factsOf(one) ?? []),
        next: page < pages ? `${page + 1}` : null,
      }
    },
  },
  create: (wanted) => ({
    method: 'POST',
    pattern: '/v1/webhooks/endpoints',
    body: bodyOfJson(fieldsOf(wanted)),
  }),
  change: (id, wanted) => ({
    method: 'PATCH',
    pattern: '/v1/webhooks/endpoints/{id}',
    ids: { id },
    body: bodyOfJson({ enabled: true, ...fieldsOf(wanted) }),
  }),
  remove: (id) => ({ method: 'DELETE', pattern: '/v1/webhooks/endpoints/{id}', ids: { id } }),
  made: factsOf,
  oldest: null,
}

const PRODUCTION = hostAt('https://api.polar.sh', 'Polar')
const SANDBOX = hostAt('https://sandbox-api.polar.sh', "Polar's sandbox")

function hostAt(origin: string, vendor: string): VendorHost {
  return {
    vendor,
    origin: () => origin,
    headers: (key) => ({ Authorization: `Bearer ${key}` }),
    errorCode: ({ error }) => text(error),
    isKeyRefused: (status) => status === 401,
  }
}

function fieldsOf({ url, events, mark }: WantedEndpoint): Json {
  return { url, name: markText(mark), format: 'raw', events }
}

function factsOf(one: Json): EndpointFacts | null {
  const [id, url] = [text(one.id), text(one.url)]
  if (id === null || url === null) return null
  return {
    id,
    url,
    // Endpoints of the other formats send messages for people, in place of events.
    enabled: flag(one.enabled) !== false && one.format === 'raw',
    api_version: null,
    events: texts(one.events),
    mark: markIn(one.name),
    secret: text(one.secret),
    created_at: millisOf(one.created_at),
  }
}
