import { SECOND } from '../lib/time'

/**
 * Statements that one run may send to all stores. D1 takes 1,000 queries an invocation; the rest is for finishing what
 * is begun.
 */
export const RUN_STATEMENTS = 900

/** Statements after which a run begins nothing new in a store. The next run continues where this one ended. */
export const STORE_STATEMENTS = 500

/** The time after which a run begins nothing new in a store (ms). */
export const STORE_MS = 10 * SECOND

/** Stores that a run works on at once: an invocation has six connections, and the directory needs one. */
export const LANES = 5

/** How long after its retention a payload may still be there (days): the tasks of housekeeping wait for each other. */
export const ERASED_DAYS_BACK = 2

/** Rows that are read at once to reseal their secrets, and about the most that one run reseals. */
export const RESEALED_AT_ONCE = 50
