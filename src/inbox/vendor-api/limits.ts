import { DAY, MINUTE, SECOND } from '../../lib/time'

/** How long one call of a vendor's API may take, and the reading of its answer with it (ms). */
export const CALL_WITHIN = 10 * SECOND
/** The largest answer of a vendor's API, in bytes after decompression. */
export const CALL_BYTES = 2 * 1024 * 1024
/** How long all calls together may take that try a new key (ms). */
export const TRY_WITHIN = 5 * SECOND
/** Newest events of a connection that a new key must be able to find again, one of them at least. */
export const SIGHTS = 3
/** How long ago such an event may be (ms). Stripe keeps its events for 30 days. */
export const SIGHT_AGE = 25 * DAY
/** Characters of a vendor's API key. */
export const MAX_API_KEY_LENGTH = 300
/** Permissions to write that an error names, at most. */
export const MAX_WRITES_NAMED = 5
/** How long (s) a key is not used after the calls of all projects together have reached the vendor's limit. */
export const SHARED_WAIT_S = 15
/** The longest time (ms) for which a key is not used because the vendor wants to be left alone, whatever its `Retry-After` says. */
export const MAX_PAUSE_MS = 5 * MINUTE
