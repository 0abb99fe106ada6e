import { pageOf } from './calls'
import { word } from './lib/bounded'
import { at } from './lib/json'
import { isoTime } from './lib/time'
import { PADDLE_PAGE } from './limits'
import type { PastEvents } from './past-events'

/**
 * https://developer.paddle.com/api-reference/events/list-events. It has no range of times: the ids of events are in the order of time, so
 * the newest come first, and the walk ends at one that is too old.
 */
export const paddlePastEvents: PastEvents = {
  pattern: '/events',
  kept_days: 90,
  most: PADDLE_PAGE,
  types: [
    'customer.created',
    'customer.updated',
    'customer.imported',
    'subscription.created',
    'subscription.activated',
    'subscription.canceled',
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
    'transaction.updated',
    'payment_method.saved',
    'payment_method.deleted',
  ],
  query: ({ types, after, limit }) => ({
    event_type: types.join(),
    order_by: 'id[DESC]',
    per_page: String(limit),
    ...(after !== null && { after }),
  }),
  page: (body) => pageOf(body.data, at(body, 'meta', 'pagination', 'has_more')),
  idOf: ({ event_id }) => word(event_id),
  timeOf: ({ occurred_at }) => {
    const time = isoTime(occurred_at)
    return time === null ? null : Date.parse(time)
  },
}
