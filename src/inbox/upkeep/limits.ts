import { DAY, MINUTE, SECOND } from '../../lib/time'

/** The sweep sends an event again that has not been processed this long after it arrived or its replay was requested (ms). */
export const FIRST_DUE_MS = 30 * SECOND
/** What the sweep has sent, it looks at again after this long (ms), so that a slow queue is not flooded. */
export const RESEND_EVERY_MS = 5 * MINUTE
/** Projects that one sweep looks at. */
export const MAX_SWEPT_PROJECTS = 1000
/** Events of a project that one sweep takes. */
export const MAX_SWEPT_EVENTS = 100
/** Events that one sweep gives up. */
export const MAX_GIVEN_UP = 100

/** Rows that one deletion takes. */
export const CHUNK_ROWS = 1000
/** Chunks of a project that one day's work takes. The next day's takes the rest. */
export const MAX_CHUNKS = 100
/** How long rollups are kept by the minute (ms). Older ones are kept by the hour. */
export const MINUTES_KEPT_MS = 2 * DAY

/** Connections that are read at once to seal their secrets anew, and about the most that one run seals. */
export const RESEAL_CONNECTIONS = 50

/** The hour of the day (UTC), in its first minute, at which the daily work is done. */
export const DAILY_HOUR = 3
