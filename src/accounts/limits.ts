import { DAY } from '../lib/time'

/** How long the events of an account are kept (ms). */
export const EVENTS_KEPT = 90 * DAY
/** Characters of a user agent that are kept. */
export const MAX_USER_AGENT = 200

/** How long a browser, or the user agent of an API client, stays known to an account after its last sign-in (ms). */
export const BROWSER_KEPT = 90 * DAY
/** Notices that a user is sent on a day (UTC) … */
export const NOTICES_A_DAY = 10
/** … before that of turning them off, which others cannot use up. */
export const NOTICES_A_DAY_IN_ALL = 15
