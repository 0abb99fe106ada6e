import { MINUTE, SECOND } from '../../lib/time'

/** Bytes of a delivery. */
export const MAX_DELIVERY_BYTES = 1024 * 1024
/** Characters kept of an event's type. */
export const MAX_EVENT_TYPE = 200
/** Characters kept of a header that carries meaning. */
export const MAX_KEPT_HEADER = 500

/** How long an isolate remembers a connection (ms). Recording holds it against the database all the same. */
export const REMEMBER = MINUTE
/** How long an isolate remembers that an id has no connection (ms). */
export const REMEMBER_UNKNOWN = 10 * SECOND
/** A refused delivery has its connection read again at most this often (ms): junk costs one read a second. */
export const REREAD_EVERY = SECOND
/** Connections that an isolate remembers. */
export const MAX_REMEMBERED = 5_000

/** Counts of refused deliveries that an isolate holds until they are written. */
export const MAX_REFUSAL_COUNTS = 5_000

/** Bytes of a spooled delivery. A Queue message holds 128,000; the rest is for its ids and envelope. */
export const MAX_SPOOLED_BYTES = 110_000
