import { HOUR, SECOND } from '../lib/time'

/**
 * What one step looks at: so many consumers, and if they have too much for one read, half as many, and so on; and so many rows of the
 * feed, and as many behind them. Each has one change or several. Tests take smaller ones.
 */
export const STEP = { consumers: 200, rows: 230 }
/** Bytes of stored changes that one step reads, and as many behind them. */
export const MAX_STEP_BYTES = 512 * 1024
/** Bytes of states and changes that one step writes, as JSON. The last consumer may go beyond. */
export const MAX_STEP_WRITTEN = 512 * 1024
/** Bytes of changes in one row of the feed. The last one may go beyond. */
export const MAX_TOLD_ROW = 128 * 1024

/** Causes that are told with one change: the last ones. */
export const MAX_CAUSES = 20
/** Changes that one walk is for. If there are more, the oldest are not named: the walk for a later one meets everybody whom theirs would. */
export const MAX_WALK_CAUSES = 20

/** Steps of one run. Then other projects have their turn. */
export const RUN_STEPS = 10
/** Statements after which one invocation begins no further step: D1 takes 1,000 queries in one. */
export const RUN_STATEMENTS = 800
/** The time after which one invocation begins no further step (ms). */
export const RUN_MS = 20 * SECOND
/**
 * Bytes of states and changes that a watcher writes in one run without a rest after it, and how many more it rests a second for. One call can
 * make a difference for every consumer, so a key in a loop could otherwise write megabytes a second, for as long as it likes. A project
 * with 10,000 consumers of whom 350 bytes are told each is through in a minute.
 */
export const FREE_WRITTEN = 128 * 1024
export const WRITTEN_IN_A_SECOND = 64 * 1024

/** How long a worker has a watcher for itself (ms). Each step renews it. */
export const LEASE_MS = 60 * SECOND
/** How long after a message for a watcher no other one is sent (ms), unless a worker has taken it. Less than the minute of the cron. */
export const WOKEN_MS = 50 * SECOND
/** Watchers that one run of the cron wakes. Those that were woken last come last. */
export const MAX_WOKEN = 500

/** When a consumer that has too much is looked at again (ms). */
export const SKIPPED_WAIT_MS = HOUR
/** Consumers with too much, as health counts them. */
export const MAX_COUNTED_SKIPPED = 1000

/** Bytes of the values on one page of what was told. The last consumer may go beyond. */
export const MAX_LISTED_BYTES = 256 * 1024
