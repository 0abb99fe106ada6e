import { SECOND } from '../lib/time'
import { pageOf } from './calls'
import { word } from './lib/bounded'
import { STRIPE_PAGE } from './limits'
import type { PastEvents } from './past-events'

/** https://docs.stripe.com/api/events/list. It takes up to 20 types. `delivery_success` does not know of an endpoint that is missing. */
export const stripePastEvents: PastEvents = {
  pattern: '/v1/events',
  kept_days: 30,
  most: STRIPE_PAGE,
  types: [
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
  query: ({ types, from, until, after, limit }) => ({
    ...Object.fromEntries(types.map((type, i) => [`types[${i}]`, type])),
    'created[gte]': String(Math.floor(from / SECOND)),
    'created[lt]': String(Math.floor(until / SECOND)),
    limit: String(limit),
    ...(after !== null && { starting_after: after }),
  }),
  page: ({ data, has_more }) => pageOf(data, has_more),
  idOf: ({ id }) => word(id),
  timeOf: ({ created }) => (typeof created === 'number' ? created * SECOND : null),
}
