/** Test runs that are kept of a connection. */
export const KEPT_TESTS = 10
/** Bytes of a report, as JSON, and characters of each of its texts. */
export const MAX_REPORT = 16_384
export const MAX_TEXT = 300
