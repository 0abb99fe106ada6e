import type { VendorHost } from './api'
import {
  bodyOfForm,
  type EndpointFacts,
  type VendorEndpoints,
  type WantedEndpoint,
  withMark,
  withoutMark,
} from './endpoints'
import { flag, isObject, type Json, objects, text, texts } from './lib/json'

const ALL = '*'

/**
 * Chargebee's webhook endpoints. The site is a part of the host name. We choose the user name and the password, which Chargebee never shows. Our
 * mark is in the address, because a name has 50 characters at most. An endpoint without event types sends all.
 * https://apidocs.chargebee.com/docs/api/webhook_endpoints
 */
export const chargebeeEndpoints: VendorEndpoints = {
  vendor: 'Chargebee',
  host: ({ name }) => hostOf(name ?? ''),
  checkKey: (key) =>
    /^(live|test)_\w{10,250}$/.test(key)
      ? null
      : { problem: 'malformed', why: 'An API key of Chargebee begins with live_ or test_.' },
  livemodeOf: (key) => key.startsWith('live_'),
  account: {
    noun: 'site',
    where: 'It is the first part of the host name: acme in acme.chargebee.com, acme-test for its test site.',
    isName: (value) => /^[a-z0-9][a-z0-9-]{0,59}$/.test(value),
  },
  permission: 'Full-Access',
  limit: { most: 5, countsDisabled: true },
  secretOf: (random) => `webhooks:${random}`,
  needed: [
    'customer_changed',
    'customer_created',
    'customer_deleted',
    'invoice_deleted',
    'invoice_generated',
    'invoice_updated',
    'payment_failed',
    'payment_refunded',
    'payment_source_added',
    'payment_source_deleted',
    'payment_source_updated',
    'payment_succeeded',
    'subscription_activated',
    'subscription_cancellation_scheduled',
    'subscription_cancelled',
    'subscription_changed',
    'subscription_created',
    'subscription_deleted',
    'subscription_items_renewed',
    'subscription_pause_scheduled',
    'subscription_paused',
    'subscription_reactivated',
    'subscription_renewed',
    'subscription_resumed',
    'subscription_scheduled_cancellation_removed',
    'subscription_scheduled_pause_removed',
    'subscription_started',
  ],
  useful: [
    'card_added',
    'card_deleted',
    'card_updated',
    'credit_note_created',
    'credit_note_created_with_backdating',
    'credit_note_deleted',
    'credit_note_updated',
    'customer_moved_in',
    'invoice_generated_with_backdating',
    'payment_source_expired',
    'payment_source_expiring',
    'payment_source_locally_deleted',
    'subscription_activated_with_backdating',
    'subscription_canceled_with_backdating',
    'subscription_changed_with_backdating',
    'subscription_changes_scheduled',
    'subscription_created_with_backdating',
    'subscription_moved_in',
    'subscription_ramp_applied',
    'subscription_reactivated_with_backdating',
    'subscription_resumption_scheduled',
    'subscription_scheduled_changes_removed',
    'subscription_scheduled_resumption_removed',
    'subscription_trial_extended',
  ],
  all: ALL,
  list: {
    pattern: '/api/v2/webhook_endpoints',
    query: ({ after }) => ({ limit: '100', ...(after !== null && { offset: after }) }),
    page({ list, next_offset }) {
      if (!Array.isArray(list)) return null
      const endpoints = objects(list).flatMap(({ webhook_endpoint: one }) =>
        isObject(one) ? (factsOf(one) ?? []) : [],
      )
      return { endpoints, next: text(next_offset) }
    },
  },
  create: (wanted) => ({
    method: 'POST',
    pattern: '/api/v2/webhook_endpoints',
    body: bodyOfForm([['name', `Platform API ${wanted.mark.secret}`], ['api_version', 'v2'], ...fieldsOf(wanted)]),
  }),
  change: (id, wanted) => ({
    method: 'POST',
    pattern: '/api/v2/webhook_endpoints/{id}',
    ids: { id },
    body: bodyOfForm([['disabled', 'false'], ...fieldsOf(wanted)]),
  }),
  remove: (id) => ({ method: 'POST', pattern: '/api/v2/webhook_endpoints/{id}/delete', ids: { id } }),
  made: ({ webhook_endpoint: one }) => (isObject(one) ? factsOf(one) : null),
  // Payloads of v1 have other names for most fields.
  oldest: 'v2',
}

function hostOf(site: string): VendorHost {
  return {
    vendor: 'Chargebee',
    origin: () => `https://${site}.chargebee.com`,
    headers: (key) => ({ Authorization: `Basic ${btoa(`${key}:`)}` }),
    errorCode: ({ api_error_code }) => text(api_error_code),
    isKeyRefused: (status) => status === 401,
  }
}

function fieldsOf({ url, events, mark, secret }: WantedEndpoint): [name: string, value: string][] {
  const [user = '', password = ''] = secret?.split(':') ?? []
  const signing: [string, string][] = [
    ['basic_auth_username', user],
    ['basic_auth_password', password],
  ]
  return [
    ['url', withMark(url, mark)],
    ...(secret === null ? [] : signing),
    ...(events.includes(ALL) ? [] : events.map((type, at): [string, string] => [`enabled_events[${at}]`, type])),
  ]
}

function factsOf(one: Json): EndpointFacts | null {
  const [id, address] = [text(one.id), text(one.url)]
  if (id === null || address === null) return null
  const chosen = texts(one.enabled_events)
  return {
    id,
    ...withoutMark(address),
    enabled: flag(one.disabled) !== true,
    api_version: text(one.api_version),
    events: chosen.length === 0 ? [ALL] : chosen,
    secret: null,
    created_at: null,
  }
}
