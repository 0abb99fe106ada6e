import { bodyOfForm, type EndpointFacts, type VendorEndpoints, type WantedEndpoint } from './endpoints'
import { at, flag, isObject, type Json, objects, text, texts } from './lib/json'
import { STRIPE_VERSION, stripeApi } from './stripe-api'

/** The names of the metadata that marks an endpoint as ours. */
const CONNECTION = 'platform_api_connection'
const SECRET = 'platform_api_secret'

/**
 * Stripe's webhook endpoints. A signing secret is shown once, when the endpoint is created. The version of an endpoint cannot be changed.
 * https://docs.stripe.com/api/webhook_endpoints
 */
export const stripeEndpoints: VendorEndpoints = {
  vendor: stripeApi.vendor,
  host: () => stripeApi,
  checkKey: stripeApi.checkKey,
  livemodeOf: stripeApi.livemodeOf,
  permission: 'Webhook Endpoints: Write',
  reading: 'Webhook Endpoints: Read',
  limit: { most: 16, countsDisabled: true },
  needed: [
    'customer.created',
    'customer.updated',
    'customer.deleted',
    'customer.subscription.created',
    'customer.subscription.updated',
    'customer.subscription.deleted',
    'customer.subscription.paused',
    'customer.subscription.resumed',
    'invoice.created',
    'invoice.finalized',
    'invoice.updated',
    'invoice.paid',
    'invoice.payment_failed',
    'invoice.voided',
    'invoice.marked_uncollectible',
    'invoice.deleted',
    'payment_method.attached',
    'payment_method.updated',
    'payment_method.automatically_updated',
    'payment_method.detached',
  ],
  useful: [
    'charge.dispute.closed',
    'charge.dispute.created',
    'charge.dispute.funds_reinstated',
    'charge.dispute.funds_withdrawn',
    'charge.dispute.updated',
    'charge.refund.updated',
    'charge.refunded',
    'charge.updated',
    'checkout.session.completed',
    'checkout.session.async_payment_failed',
    'checkout.session.async_payment_succeeded',
    'customer.subscription.pending_update_applied',
    'customer.subscription.pending_update_expired',
    'customer.subscription.trial_will_end',
    'invoice.finalization_failed',
    'invoice.overdue',
    'invoice.overpaid',
    'invoice.payment_action_required',
    'invoice.payment_attempt_required',
    'invoice.payment_succeeded',
    'invoice.sent',
    'invoice.will_be_due',
    'invoice_payment.paid',
    'payment_intent.succeeded',
    'refund.created',
    'refund.failed',
    'refund.updated',
  ],
  all: '*',
  list: {
    pattern: '/v1/webhook_endpoints',
    query: ({ after }) => ({ limit: '100', ...(after !== null && { starting_after: after }) }),
    page({ data, has_more }) {
      if (!Array.isArray(data) || typeof has_more !== 'boolean') return null
      const endpoints = objects(data).flatMap((one) => factsOf(one) ?? [])
      return { endpoints, next: has_more ? (endpoints.at(-1)?.id ?? null) : null }
    },
  },
  // https://docs.stripe.com/api/v2/core/event_destinations
  thin: {
    pattern: '/v2/core/event_destinations',
    query: { 'include[0]': 'webhook_endpoint.url', limit: '100' },
    urls: ({ data }) =>
      objects(data)
        .filter((one) => one.event_payload === 'thin' && one.status === 'enabled')
        .flatMap((one) => text(at(one, 'webhook_endpoint', 'url')) ?? []),
  },
  create: (wanted) => ({
    method: 'POST',
    pattern: '/v1/webhook_endpoints',
    body: bodyOfForm([['api_version', STRIPE_VERSION], ['description', 'Platform API'], ...fieldsOf(wanted)]),
  }),
  change: (id, wanted) => ({
    method: 'POST',
    pattern: '/v1/webhook_endpoints/{id}',
    ids: { id },
    body: bodyOfForm([['disabled', 'false'], ...fieldsOf(wanted)]),
  }),
  remove: (id) => ({ method: 'DELETE', pattern: '/v1/webhook_endpoints/{id}', ids: { id } }),
  made: factsOf,
  // Invoices of earlier versions have other names for their times, and the oldest have no status.
  oldest: '2019-03-14',
}

function fieldsOf({ url, events, mark }: WantedEndpoint): [name: string, value: string][] {
  return [
    ['url', url],
    ...events.map((type): [string, string] => ['enabled_events[]', type]),
    [`metadata[${CONNECTION}]`, mark.connection],
    [`metadata[${SECRET}]`, mark.secret],
  ]
}

function factsOf(one: Json): EndpointFacts | null {
  const [id, url] = [text(one.id), text(one.url)]
  if (id === null || url === null || flag(one.deleted) === true) return null
  const metadata = isObject(one.metadata) ? one.metadata : {}
  const [connection, secret] = [text(metadata[CONNECTION]), text(metadata[SECRET])]
  return {
    id,
    url,
    enabled: one.status === 'enabled',
    api_version: text(one.api_version),
    events: texts(one.enabled_events),
    mark: connection === null ? null : { connection, secret: secret ?? '' },
    secret: text(one.secret),
    created_at: typeof one.created === 'number' ? one.created * 1000 : null,
  }
}
