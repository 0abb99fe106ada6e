import { HOUR, MINUTE, SECOND } from '../../lib/time'

/** How long after an object comes into doubt the vendor is asked for it (ms): often the event that decides is on its way. */
export const FIRST_ASKED_MS = 6 * SECOND
/** The waits before the vendor is asked again (ms). After the last one, the object stays as it is. */
export const ASKED_AGAIN_MS = [MINUTE, 10 * MINUTE, 6 * HOUR]
/** Objects of a project that one message asks for. */
export const DOUBTS_AT_ONCE = 10
/** How long a worker has them (ms): longer than it takes. */
export const DOUBT_LEASE_MS = MINUTE
/** After how long (s) the message of a project comes again that has more objects, or was not reached. */
export const MORE_WAIT_S = 2
/** How long an object waits (ms) that was not asked for, because the vendor has just failed or there was no time. */
export const NOT_ASKED_WAIT_MS = MINUTE
/** Projects whose objects one run of the cron looks for. Each has one message. */
export const MAX_DOUBTFUL_PROJECTS = 1000
/** Purchases that do not say what was bought, of which a new key has the vendor asked. */
export const MAX_ITEMS_ASKED = 1000
/** How much later each of them is due than the one before (ms). */
export const ITEMS_APART_MS = 200
