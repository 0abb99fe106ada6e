/** How many of the newest failed events are grouped by cause. Each costs two rows read. */
export const MAX_FAILURES = 1000
/** Causes in one answer, those with the most events first. */
export const MAX_FAILURE_CAUSES = 50
/** Days with a count of their own, the last one today. */
export const FAILURE_DAYS = 14
