import { DAY } from '../../lib/time'

/** Hours between two walks over the subscriptions. */
export const WALK_HOURS = 6
/** Subscriptions that one step of a walk reads. */
export const WALKED_AT_ONCE = 400
/** In which time (ms) subscriptions were due for their share to be told of. */
export const DUE_WITHIN = 7 * DAY
/** How many of them must be overdue for that, and one in how many. */
export const MISSING = { least: 3, one_in: 10 }
