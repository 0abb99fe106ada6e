import { DAY } from '../../lib/time'

/** Hours between two walks over the subscriptions. */
export const WALK_HOURS = 6
/** Subscriptions that one step of a walk reads. */
export const WALKED_AT_ONCE = 400
/** The share of overdue subscriptions is taken over those that were due in this time (ms). */
export const DUE_WITHIN = 7 * DAY
/** How many of them must be overdue to be reported, and one in how many. */
export const MISSING = { least: 3, one_in: 10 }
