import { DAY, SECOND } from '../../lib/time'

/** How long a call of the vendor's may take in a refresh (ms). Somebody waits for it: often a person who has just paid. */
export const ASKED_WITHIN_MS = 2 * SECOND
/** How long a refresh may take in all before it answers with what is known (ms). */
export const REFRESH_WITHIN_MS = 4.5 * SECOND
/** How often a refresh asks again because an event came in between. */
export const MAX_ASKED_ROUNDS = 3
/** A customer that was refreshed less than this long ago (ms) is not asked for again. */
export const FRESH_FOR_MS = 2 * SECOND
/** How long a refresh holds its customer before another may take over (ms): longer than any takes. */
export const FLIGHT_LEASE_MS = 15 * SECOND
/** How often a refresh that waits for another one looks whether it is done (ms). */
export const POLL_MS = 250
/** Customers that one call refreshes. Further customers of the consumer stay as they are known. */
export const MAX_REFRESHED_CUSTOMERS = 5
/** Rows that say when a customer was last refreshed are deleted after this long (ms). */
export const ASKS_KEPT_MS = DAY
/** Fetched objects that are recorded in one round trip, and the bytes of them. */
export const MAX_RECORDED = 30
export const MAX_RECORDED_BYTES = 1024 * 1024
/** Lists inside fetched objects that one refresh completes, each with a call of its own. */
export const MAX_COMPLETED = 5
/** How many of a connection's newest events are searched for the version of the vendor's API. */
export const VERSION_LOOKED_FOR = 20
/** How long it may take (ms) to find the customer of a checkout, before that customer is asked for. */
export const CHECKOUT_WITHIN_MS = 2 * SECOND
/** Characters of the id of a checkout. Stripe's have about 70. */
export const MAX_CHECKOUT_ID = 200
/** Bytes of one answer of the vendor's. A larger one is not used. */
export const ASKED_BYTES = 1024 * 1024
/** Refreshes that an isolate makes at once: each may hold some two megabytes of answers, and several times that once they are parsed. */
export const MAX_FLIGHTS = 8
/** How many of those one project may have. */
export const MAX_PROJECT_FLIGHTS = 4
/** How often a refresh looks whether there is room for it (ms). */
export const BUSY_POLL_MS = 20
/**
 * Objects of a customer whose state is read before the vendor is asked, and the bytes of them that are compared with the answers. Those
 * beyond the bytes are compared by their digests.
 */
export const KNOWN = { subscriptions: 150, invoices: 100, bytes: 1024 * 1024 }
