import { DAY } from '../../lib/time'

/** Test runs that are kept of a connection, and for how long (ms). */
export const KEPT_TESTS = 10
export const TEST_RETENTION = 30 * DAY
/** Bytes of a report, as JSON, and characters of each of its texts. */
export const MAX_REPORT = 16_384
export const MAX_TEXT = 300
