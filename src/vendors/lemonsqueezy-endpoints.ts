import type { VendorHost } from './api'
import {
  bodyOfJson,
  type EndpointFacts,
  type VendorEndpoints,
  type WantedEndpoint,
  withMark,
  withoutMark,
} from './endpoints'
import { at, flag, isObject, type Json, numericId, objects, text, texts } from './lib/json'
import { millisOf } from './lib/time'

const JSON_API = 'application/vnd.api+json'

/**
 * Lemon Squeezy's webhooks. Each belongs to a store. They have no name, cannot be disabled, and do not show their secret, which we choose: our
 * mark is in the address. Keys have no permissions, and each is either for test mode or for live mode.
 * https://docs.lemonsqueezy.com/api/webhooks/create-webhook
 */
export const lemonsqueezyEndpoints: VendorEndpoints = {
  vendor: 'Lemon Squeezy',
  host: () => HOST,
  checkKey: (key) =>
    /^[\w.-]{40,4000}$/.test(key)
      ? null
      : { problem: 'malformed', why: 'An API key of Lemon Squeezy has at least 40 letters, digits, dots and dashes.' },
  livemodeOf: () => null,
  mode: {
    pattern: '/v1/users/me',
    livemode: ({ meta }) => {
      const test = flag(at(meta, 'test_mode'))
      return test === null ? null : !test
    },
  },
  account: {
    noun: 'store ID',
    where: 'It is in the dashboard under Settings → Stores, without the #.',
    isName: (value) => /^\d{1,15}$/.test(value),
    list: {
      pattern: '/v1/stores',
      query: { 'page[size]': '100' },
      names: ({ data }) => (Array.isArray(data) ? objects(data).flatMap(({ id }) => numericId(id) ?? []) : null),
    },
  },
  permission: null,
  limit: null,
  secretOf: (random) => random,
  needed: [
    'subscription_cancelled',
    'subscription_created',
    'subscription_expired',
    'subscription_paused',
    'subscription_payment_failed',
    'subscription_payment_recovered',
    'subscription_payment_refunded',
    'subscription_payment_success',
    'subscription_resumed',
    'subscription_unpaused',
    'subscription_updated',
  ],
  useful: ['order_created', 'order_refunded'],
  all: null,
  list: {
    pattern: '/v1/webhooks',
    query: ({ name, after }) => ({
      'filter[store_id]': name ?? '',
      'page[number]': after ?? '1',
      'page[size]': '100',
    }),
    page({ data, meta }, { livemode }) {
      const page = at(meta, 'page')
      const [current, last] = [at(page, 'currentPage'), at(page, 'lastPage')]
      if (!Array.isArray(data) || typeof current !== 'number' || typeof last !== 'number') return null
      // A webhook sends the events of its own mode.
      const ofMode = objects(data).filter((one) => flag(at(one, 'attributes', 'test_mode')) !== livemode)
      return { endpoints: ofMode.flatMap((one) => factsOf(one) ?? []), next: current < last ? `${current + 1}` : null }
    },
  },
  create: (wanted) => ({
    method: 'POST',
    pattern: '/v1/webhooks',
    body: bodyOfJson(
      {
        data: {
          type: 'webhooks',
          attributes: { ...attributesOf(wanted), test_mode: !wanted.livemode },
          relationships: { store: { data: { type: 'stores', id: wanted.name } } },
        },
      },
      JSON_API,
    ),
  }),
  change: (id, wanted) => ({
    method: 'PATCH',
    pattern: '/v1/webhooks/{id}',
    ids: { id },
    body: bodyOfJson({ data: { type: 'webhooks', id, attributes: attributesOf(wanted) } }, JSON_API),
  }),
  remove: (id) => ({ method: 'DELETE', pattern: '/v1/webhooks/{id}', ids: { id } }),
  made: ({ data }) => (isObject(data) ? factsOf(data) : null),
  oldest: null,
}

/** Lemon Squeezy has no codes of errors, only texts. */
const HOST: VendorHost = {
  vendor: 'Lemon Squeezy',
  origin: () => 'https://api.lemonsqueezy.com',
  headers: (key) => ({ Authorization: `Bearer ${key}`, Accept: JSON_API }),
  errorCode: () => null,
  isKeyRefused: (status) => status === 401,
}

function attributesOf({ url, events, mark, secret }: WantedEndpoint): Json {
  return { url: withMark(url, mark), events, ...(secret !== null && { secret }) }
}

function factsOf({ id, attributes }: Json): EndpointFacts | null {
  const [own, address] = [numericId(id), text(at(attributes, 'url'))]
  if (own === null || address === null) return null
  return {
    id: own,
    ...withoutMark(address),
    enabled: true,
    api_version: null,
    events: texts(at(attributes, 'events')),
    secret: null,
    created_at: millisOf(at(attributes, 'created_at')),
  }
}
