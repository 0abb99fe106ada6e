import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time'

/** Bytes of a delivery. */
export const MAX_DELIVERY_BYTES = 1024 * 1024
/** Events of a delivery. All of them are recorded in one statement, and processed from one payload. */
export const MAX_DELIVERY_EVENTS = 1000
/** Characters kept of an event's type. */
export const MAX_EVENT_TYPE = 200
/** Hexadecimal characters kept of the digest of an event's content: 128 bits. */
export const DIGEST_LENGTH = 32
/** Characters kept of a header that carries meaning. */
export const MAX_KEPT_HEADER = 500

/**
 * How long an isolate remembers a connection, or that an id has none (ms). Recording still checks a connection against the
 * database. An id without a connection never gets one: a deleted connection does not come back.
 */
export const REMEMBER = MINUTE
/**
 * A refused delivery has its connection read again at most this often (ms): junk costs one read a second. A call that adds
 * a secret or enables a connection answers this much later, when no isolate refuses from older memory.
 */
export const REREAD_EVERY = SECOND
/** Connections that an isolate remembers. */
export const MAX_REMEMBERED = 5_000
/** Ids without a connection that an isolate remembers. */
export const MAX_REMEMBERED_UNKNOWN = 5_000

/** Counts of refused deliveries that an isolate holds until they are written. */
export const MAX_REFUSAL_COUNTS = 5_000

/** A flush of those counts that has not ended this long after it was due (ms) died with its request: another one begins. */
export const FLUSH_DIED_AFTER_MS = 30 * SECOND

/** How long a key that a vendor has published is used without asking again (ms), and after how long it is asked for while it is used. */
export const VENDOR_KEY_KEPT = DAY
export const VENDOR_KEY_RENEWED = 12 * HOUR
/** A connection has an unknown key fetched at most this often (ms), and a key that was not to be had is not asked for again earlier. */
export const VENDOR_KEY_EVERY = MINUTE
/** How long a vendor may take to give a key (ms), and how many bytes it may have. PayPal's certificates have 2,600. */
export const VENDOR_KEY_WITHIN = 3 * SECOND
export const VENDOR_KEY_BYTES = 16 * 1024
/** Keys of vendors that an isolate remembers. PayPal signs with one at a time, and has another one for its sandbox. */
export const MAX_VENDOR_KEYS = 50
/** Addresses without a key that an isolate remembers. */
export const MAX_MISSING_VENDOR_KEYS = 1000

/** Recording trips of an isolate to one database that may be in flight at once. */
export const MAX_TRIPS_OUT = 4
/** Deliveries on one trip. */
export const MAX_GROUP = 8
/** Bytes on one trip, unless a single delivery has more. */
export const MAX_GROUP_BYTES = 256 * 1024
/** What the rows of an event weigh on a trip beside its payload, in bytes. */
export const ROW_BYTES = 4096
/** A delivery that has waited for others this long goes alone (ms). */
export const ALONE_AFTER = 1.5 * SECOND

/**
 * Bytes of a body that one statement binds, as text or as hexadecimal. The rest of MAX_LIST_BYTES (db/limits.ts) is for
 * what else it binds.
 */
export const MAX_BODY_PART = 900_000

/** Bytes of a spooled delivery. A Queue message holds 128,000; the rest is for its ids and envelope. */
export const MAX_SPOOLED_BYTES = 110_000
