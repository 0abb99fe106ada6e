import { DAY, SECOND } from '../lib/time'

/** The sweep sends an event again that has not been processed this long after it arrived or its replay was requested (ms). */
export const FIRST_DUE_MS = 30 * SECOND

/** Projects that one sweep looks at. */
export const MAX_SWEPT_PROJECTS = 1000

/** How long rollups are kept by the minute (ms). Older ones are kept by the hour. */
export const MINUTES_KEPT_MS = 2 * DAY
