import { HOUR, MINUTE, SECOND } from '../../lib/time'

/** Waits between the attempts at an event (ms), each ± {@link RETRY_JITTER}. After the last one the event has failed. */
export const RETRY_DELAYS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 10 * HOUR]
/** The share by which a wait may be shorter or longer, so that events that failed together do not return together. */
export const RETRY_JITTER = 0.2
/** Attempts allowed for each trigger (a delivery, a replay). */
export const MAX_TRIES = RETRY_DELAYS_MS.length + 1

/** How long a claim holds before another worker may take the event over (ms). */
export const LEASE_MS = 60 * SECOND

/** Waits up to this long (ms) are left to the Queue. Longer ones are left to the sweep. */
export const MAX_QUEUE_WAIT_MS = MINUTE * (1 + RETRY_JITTER)
/** How long a message waits (s) after D1 failed under it: by then the leases of its events have expired. */
export const WAIT_AFTER_FAILURE_S = Math.ceil(LEASE_MS / SECOND) + 5
/** How long a message from the dead-letter queue waits (s) before it is delivered again. */
export const DEAD_LETTER_WAIT_S = 600

/**
 * Bytes of payloads that a worker claims, and holds, at once. As text in memory they take up to twice as much, and what
 * is decoded from them as much again: an isolate has 128 MB for everything.
 */
export const MAX_CLAIMED_BYTES = 4 * 1024 * 1024
/** Events that a worker claims at once. More come only from spooled deliveries of many events each. */
export const MAX_CLAIMED = 500

/** How often a batch is decided again because another worker changed one of its objects meanwhile. */
export const MAX_ROUNDS = 5

/** Characters of an error that are kept. */
export const MAX_ERROR_LENGTH = 1000
/** Characters of a vendor's event id that are kept. */
export const MAX_VENDOR_EVENT_ID_LENGTH = 300
/** Bytes of an id or a word in the decoded view. No vendor uses longer ones, so a longer one is left out. */
export const MAX_WORD_BYTES = 300

/** What the sweep has sent, it looks at again after this long (ms), so that a slow queue is not flooded. */
export const RESEND_EVERY_MS = 5 * MINUTE

/** Events of a project that one sweep takes. */
export const MAX_SWEPT_EVENTS = 100

/** Events that one sweep gives up … */
export const MAX_GIVEN_UP = 20

/** … each of which may cost this many statements, if the database refuses them together. */
export const GIVE_UP_STATEMENTS = 25

/** The Queue must take what the sweep sends within this time (ms): one that hangs must not hold up the cron. */
export const SEND_WITHIN_MS = 5 * SECOND
