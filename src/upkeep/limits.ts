import { DAY, MINUTE, SECOND } from '../lib/time'

/** What the sweep has sent, it looks at again after this long (ms), so that a slow queue is not flooded. */
export const RESEND_EVERY_MS = 5 * MINUTE

/** Events of a project that one sweep takes. */
export const MAX_SWEPT_EVENTS = 100

/** Events that one sweep gives up … */
export const MAX_GIVEN_UP = 20

/** … each of which may cost this many statements, if the database refuses them together. */
export const GIVE_UP_STATEMENTS = 25

/**
 * Statements that one run may send to all stores. D1 takes 1,000 queries an invocation; the rest is for finishing what
 * is begun.
 */
export const RUN_STATEMENTS = 900

/** Statements after which a run begins nothing new in a store. The next run continues where this one ended. */
export const STORE_STATEMENTS = 500

/** The time after which a run begins nothing new in a store (ms). */
export const STORE_MS = 10 * SECOND

/** The Queue must take what the sweep sends within this time (ms): one that hangs must not hold up the cron. */
export const SEND_WITHIN_MS = 5 * SECOND

/** Stores that a run works on at once: an invocation has six connections, and the directory needs one. */
export const LANES = 5

/** Projects that one step of housekeeping looks at. */
export const PROJECTS_AT_ONCE = 1000

/** Rows that one step deletes, or folds. */
export const CHUNK_ROWS = 2000

/** Events that one step deletes. Each is some ten rows. */
export const CHUNK_EVENTS = 500

/** Payloads that one step deletes: each has up to 1 MiB, and D1 must free all of it in the time that a query may take. */
export const CHUNK_PAYLOADS = 200

/** Billing objects, or connections, that one step deletes. Few have more than some 1,000 bytes, but some have 600,000. */
export const CHUNK_OBJECTS = 200

/** Customers, objects or events of erased consumers that one step looks at. Payloads of as many are deleted. */
export const CHUNK_ERASED = 100

/** How long after its retention a payload may still be there (days): the tasks of housekeeping wait for each other. */
export const ERASED_DAYS_BACK = 2

/** Payloads, and bytes of them, that one step moves to `bodies`. The database does nothing else meanwhile. */
export const MOVED_PAYLOADS = 200

export const MOVED_BYTES = 4 * 1024 * 1024

/** A rollup that is written this long after its minute was folded (ms) stays as it is until its retention ends. */
export const LATE_MS = 7 * DAY

/** Rows that are read at once to reseal their secrets, and about the most that one run reseals. */
export const RESEALED_AT_ONCE = 50

/** Keys of entitlement tokens that one step deletes, rotates or makes, each. A new one takes a millisecond of CPU time. */
export const RENEWED_KEYS = 50
