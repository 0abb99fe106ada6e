import { DAY } from '../../lib/time'
import { LOGIN_TTL } from '../limits'

/** Test runs that are kept of a connection, and for how long (ms). */
export const KEPT_TESTS = 10
export const TESTS_KEPT_FOR = 30 * DAY
/** How long after its beginning a browser can come back to a test run (ms): its link and the sign-in each take so long. */
export const TEST_TTL = 2 * LOGIN_TTL
/** Bytes of a report, as JSON, and characters of each of its texts. */
export const MAX_REPORT = 16_384
export const MAX_TEXT = 300
