import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time'

/** Pages of a vendor's list of endpoints that are read. */
export const MAX_ENDPOINT_PAGES = 5
/** How often a setup starts over because another call has changed the connection. */
export const MAX_SET_UPS = 3
/** Random bytes of a signing secret that the service chooses: 32 characters, because some vendors take 40 at most. */
export const OWN_SECRET_BYTES = 16
/** Characters of a key that may change endpoints. Those of Lemon Squeezy have more than a thousand. */
export const MAX_WRITE_KEY_LENGTH = 4000
/** Characters of the name of a vendor's account. */
export const MAX_ACCOUNT_LENGTH = 60
/** How many accounts of a key an error names. */
export const MAX_ACCOUNTS_NAMED = 10
/** How long one call to the vendor may take (ms) while somebody waits for a setup or a check. */
export const ENDPOINT_CALL_WITHIN = 5 * SECOND
/** The time from one check of an endpoint to the next (ms), and the time after a failed check. */
export const CHECKED_EVERY = DAY
export const CHECKED_AGAIN = HOUR
/** How many checks the cron begins in one run in a store, and how long one may take until another worker begins it again (ms). */
export const MAX_CHECKS_BEGUN = 20
export const CHECK_LEASE = 10 * MINUTE
/** Checks of one batch that run side by side; those that have not begun after this time (ms) come again after so many seconds. */
export const CHECKS_AT_ONCE = 4
export const CHECKS_WITHIN = 15 * SECOND
export const CHECKS_HANDED_ON_S = 5
/** How many characters of an endpoint's address and version are kept. */
export const MAX_KEPT_URL = 300
export const MAX_KEPT_VERSION = 40
/** How many event types a sentence names. */
export const MAX_TYPES_NAMED = 5
/** How many event types of an endpoint are shown. */
export const MAX_TYPES_SHOWN = 500
