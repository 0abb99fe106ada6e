import { MINUTE } from '../../lib/time'

/** The most events that one bulk replay reopens. */
export const MAX_REPLAYED = 1000
/** Events that a bulk replay sends to the Queue per second. */
export const REPLAYED_PER_SECOND = 100
/** The most bounded searches that one bulk replay runs. A filter that no index answers may need several. */
export const MAX_SEARCHES = 10

/**
 * How long a bulk replay counts as running (ms) while events of it are open. They are sent within ten seconds, and their
 * first four retries are over by then. An event that waits hours for a later retry does not keep the next replay waiting.
 */
export const BULK_RUNS_MS = 15 * MINUTE
/**
 * Events of a project that bulk replays reopen in a day (UTC); the last replay of a day may exceed it by its own events.
 * That is about all events of three months for a project with a thousand a day, or 17 minutes at full pace. Each costs
 * some fifteen written rows: beyond this, one project could keep the consumer, and the bill, at its full pace all day.
 */
export const MAX_REPLAYED_A_DAY = 100_000
