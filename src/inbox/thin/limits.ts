import { SECOND } from '../../lib/time'

/** How long one call of a vendor's API may take for an event (ms). Nobody waits for it, but other events do. */
export const CALL_WITHIN_MS = 4 * SECOND
/** Objects that are asked for at once. */
export const CALLS_AT_ONCE = 4
/** How long all calls of a batch may take (ms). What is not reached by then is handed back. It is well below the lease. */
export const CALLS_WITHIN_MS = 20 * SECOND
/** A call only begins while at least this much time (ms) is left for it: with less, it would hardly succeed. */
export const LEAST_FOR_A_CALL_MS = SECOND
/** How long (ms) a key is not used after the vendor failed, by events or refreshes. Shorter than the wait for another attempt. */
export const PAUSE_MS = 3 * SECOND
/** How many of the newest events of a connection without a key are searched for thin ones. */
export const LOOKED_FOR_THIN = 20
/** How many failed events of a connection a new key opens again. */
export const MAX_RESUMED = 1000
/** How many of the newest failed events of the project are searched for them. */
export const MAX_FAILED_LOOKED_AT = 10_000
/** After how long (s) the message of an event that was handed back comes again. */
export const HANDED_BACK_WAIT_S = 1
/** Events that are claimed at once. What the vendor answers is in memory until they end. */
export const CLAIMED_AT_ONCE = 20
/** Events of a project that one batch does, if the project has more open events than these. */
export const SHARE_EVENTS = 10
export const FLOOD_EVENTS = 200
/** Open events of such a project that are counted, to spread its messages over a time in which so many a second are done, at least. */
export const MAX_FLOOD_COUNTED = 5000
export const FLOOD_PER_S = 10
/** How long a message of such a project waits at least (s). */
export const LEAST_FLOOD_WAIT_S = 5
