import { SECOND } from '../lib/time'
import { pageOf } from './calls'
import { word } from './lib/bounded'
import { STRIPE_PAGE } from './limits'
import type { PastEvents } from './past-events'

/** https://docs.stripe.com/api/events/list. It takes up to 20 types. `delivery_success` does not cover missing endpoints. */
export const stripePastEvents: PastEvents = {
  pattern: '/v1/events',
  kept_days: 30,
  most: STRIPE_PAGE,
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
