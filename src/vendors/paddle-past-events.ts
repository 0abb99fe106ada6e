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
