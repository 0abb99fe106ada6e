import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time'

/** How old an event must be (ms) to count as missed. Until then, its delivery may still be on its way. */
export const SETTLED_MS = HOUR
/** How far before the end of the last look the next one begins (ms), because vendors' lists may lag. */
export const OVERLAP_MS = HOUR
/** How long ago (ms) a connection may have been deleted whose events are known. */
export const REPLACED_WITHIN_MS = 90 * DAY
/** The number of days for which the counts of missed events are kept. */
export const MISSED_DAYS = 30
/** How many gaps are kept: the latest ones. */
export const MAX_GAPS = 20
/** Missed events of a connection in the last day that make the health degraded. */
export const MISSED_DEGRADED = 10

/** How long after a look the next one is due (ms): a little less than the hour in which the cron looks. */
export const LOOK_EVERY_MS = 50 * MINUTE

/** Connections that one step of the cron asks for, and for how long (ms) it leaves one to its worker: until the next hour. */
export const LOOKS_AT_ONCE = 100
export const LEFT_TO_QUEUE_MS = 10 * MINUTE
/** Pages that one message reads: the vendor's limit is for others too. After so long (ms), or so many statements, it leaves the rest to the next one. */
export const PAGES_A_MESSAGE = 3
export const LOOK_WITHIN_MS = 20 * SECOND
export const LOOK_STATEMENTS = 400
/** How long a worker has a connection for one message (ms): longer than it takes, and shorter than a failed message waits. */
export const LOOK_LEASE_MS = MINUTE
/** The wait (s) before the next message of a look that is not done. */
export const NEXT_PAGE_WAIT_S = 1
/** How long a look waits (ms) if the vendor refused the request, and if the key lacks a permission. */
export const FAILED_WAIT_MS = 10 * MINUTE
export const REFUSED_WAIT_MS = DAY
