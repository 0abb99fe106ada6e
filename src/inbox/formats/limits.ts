import { DAY, MINUTE } from '../../lib/time'

/** An isolate writes what it has counted at most once in this time (ms), for each store. */
export const FORMATS_WRITTEN_EVERY = MINUTE
/** Counts that an isolate holds for a store: one for each connection, kind, version and week. Beyond that, it counts nothing until the next write. */
export const MAX_FORMAT_COUNTS = 200
/** How many of these counts may belong to one project. */
export const MAX_FORMAT_COUNTS_OF_A_PROJECT = 50
/** Connections that are checked for findings after one write. The others wait for the next one. */
export const CHECKED_AT_ONCE = 10
/** Connections that may wait for that. Beyond this number, a connection is checked when its events are counted again. */
export const MAX_UNSEEN = 5_000
/** Findings that one step of the cron checks again. */
export const LOOKED_AT_AGAIN = 5

/** Weeks that are kept, including the current one. */
export const WEEKS_KEPT = 8
export const WEEK = 7 * DAY
/** Versions that are kept for a connection: the most recently seen ones. */
export const MAX_VERSIONS = 10
/** Unknown words that are kept for each kind, version and week of a connection, and that are shown for a connection. */
export const MAX_UNKNOWN_WORDS = 20
/** Characters of a version, and of an unknown word. A longer one is cut. */
export const MAX_FORMAT_WORD = 40
/** Unknown words are reported if a state had them in this many recent weeks, including the current one. */
export const WORDS_TOLD_FOR = 2

/** A field has vanished if this share of at least `before` earlier states had it, and none of at least `after` new ones do. */
export const VANISHED = { share: 0.9, before: 50, after: 20 }
