import { DAY, MINUTE } from '../../lib/time'

/** An isolate writes what it has counted at most once in this time (ms), for each store. */
export const FORMATS_WRITTEN_EVERY = MINUTE
/** Counts that an isolate holds of a store: one of each connection, kind, version and week. Of more, nothing is counted until the next write. */
export const MAX_FORMAT_COUNTS = 200
/** Of these, those of one project. */
export const MAX_FORMAT_COUNTS_OF_A_PROJECT = 50
/** Connections that are looked at for findings after one write. The others wait for the next. */
export const LOOKED_AT_ONCE = 10
/** Connections that wait for that. Of more, those that come later are looked at when they are counted again. */
export const MAX_UNSEEN = 5_000
/** Findings that one step of the cron looks at again. */
export const LOOKED_AT_AGAIN = 5

/** Weeks that are kept, with the present one. */
export const WEEKS_KEPT = 8
export const WEEK = 7 * DAY
/** Versions that are kept of a connection: those that sent something last. */
export const MAX_VERSIONS = 10
/** Unknown words that are kept of a connection's kind, version and week, and that are shown of a connection. */
export const MAX_UNKNOWN_WORDS = 20
/** Characters of a version, and of an unknown word. A longer one is cut. */
export const MAX_FORMAT_WORD = 40
/** Unknown words are told of if they were in a state of the last so many weeks, with the present one. */
export const WORDS_TOLD_FOR = 2

/** A field has vanished if this share of at least so many earlier states had it, and none of at least so many new ones has. */
export const VANISHED = { share: 0.9, before: 50, after: 20 }
