import { DAY } from '../lib/time'

/** How long the events of an account are kept (ms). */
export const EVENTS_KEPT = 90 * DAY
/** Characters of a user agent that are kept. */
export const MAX_USER_AGENT = 200
