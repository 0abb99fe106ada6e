import {
  bodyOfJson,
  type EndpointFacts,
  markIn,
  markText,
  type VendorEndpoints,
  type WantedEndpoint,
} from './endpoints'
import { at, flag, isObject, type Json, numericId, objects, text } from './lib/json'
import { paddleApi } from './paddle-api'

/**
 * Paddle's notification settings. They show their secrets, and have no metadata: our mark is in the description. Settings that send emails are
 * among them, because they count for the limit.
 * https://developer.paddle.com/api-reference/notification-settings
 */
export const paddleEndpoints: VendorEndpoints = {
  vendor: paddleApi.vendor,
  host: () => paddleApi,
  checkKey: paddleApi.checkKey,
  livemodeOf: paddleApi.livemodeOf,
  permission: 'notification_setting.write',
  reading: 'notification_setting.read',
  limit: { most: 10, countsDisabled: false },
  needed: [
    'customer.created',
    'customer.imported',
    'customer.updated',
    'payment_method.deleted',
    'payment_method.saved',
    'subscription.activated',
    'subscription.canceled',
    'subscription.created',
    'subscription.imported',
    'subscription.past_due',
    'subscription.paused',
    'subscription.resumed',
    'subscription.trialing',
    'subscription.updated',
    'transaction.billed',
    'transaction.canceled',
    'transaction.completed',
    'transaction.created',
    'transaction.paid',
    'transaction.past_due',
    'transaction.payment_failed',
    'transaction.ready',
    'transaction.revised',
    'transaction.updated',
  ],
  useful: ['adjustment.created', 'adjustment.updated'],
  all: null,
  list: {
    pattern: '/notification-settings',
    query: ({ after }) => ({ per_page: '200', ...(after !== null && { after }) }),
    page({ data, meta }) {
      const more = at(meta, 'pagination', 'has_more')
      if (!Array.isArray(data) || typeof more !== 'boolean') return null
      const endpoints = objects(data).flatMap((one) => factsOf(one) ?? [])
      return { endpoints, next: more ? (endpoints.at(-1)?.id ?? null) : null }
    },
  },
  create: (wanted) => ({
    method: 'POST',
    pattern: '/notification-settings',
    body: bodyOfJson({ type: 'url', ...fieldsOf(wanted) }),
  }),
  change: (id, wanted) => ({
    method: 'PATCH',
    pattern: '/notification-settings/{id}',
    ids: { id },
    body: bodyOfJson({ active: true, ...fieldsOf(wanted) }),
  }),
  remove: (id) => ({ method: 'DELETE', pattern: '/notification-settings/{id}', ids: { id } }),
  made: ({ data }) => (isObject(data) ? factsOf(data) : null),
  oldest: null,
}

function fieldsOf({ url, events, mark }: WantedEndpoint): Json {
  return { description: markText(mark), destination: url, subscribed_events: events, traffic_source: 'all' }
}

function factsOf(one: Json): EndpointFacts | null {
  const [id, url] = [text(one.id), text(one.destination)]
  if (id === null || url === null) return null
  return {
    id,
    url,
    // A setting that is only for simulations sends no real events.
    enabled: flag(one.active) === true && one.traffic_source !== 'simulation',
    api_version: numericId(one.api_version),
    events: objects(one.subscribed_events).flatMap((type) => text(type.name) ?? []),
    mark: markIn(one.description),
    secret: text(one.endpoint_secret_key),
    created_at: null,
  }
}
