import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time'

/** Months of invoices that an import reads: by default, and at most. */
export const INVOICE_MONTHS = 3
export const MAX_INVOICE_MONTHS = 24
/** An import that failed or was canceled is continued by one that begins within this time (ms). */
export const CONTINUED_WITHIN_MS = 7 * DAY
/** How long a worker has an import for a page (ms): longer than any page takes. */
export const PAGE_LEASE_MS = MINUTE
/** The wait between two pages (ms), so that an import leaves most of the vendor's limit to others. */
export const PACE_MS = SECOND
/** How long it may take (ms) to complete the lists inside the objects of a page, and how many are completed at once. */
export const COMPLETE_WITHIN_MS = 20 * SECOND
export const COMPLETED_AT_ONCE = 4
/** For how many pages the last object is remembered, as a place from which to continue. */
export const MAX_CURSORS = 3
/** An import fails once one page has failed this often. */
export const MAX_PAGE_TRIES = 50
/** The longest wait (ms) after a page that failed, and the longest that the vendor may ask for. */
export const MAX_BACKOFF_MS = 10 * MINUTE
export const MAX_RETRY_AFTER_MS = HOUR
/** Imports wait once the database has this share of its largest size: deliveries need the rest. They check again after this time (ms). */
export const FILLING_SHARE = 0.7
export const FILLING_WAIT_MS = 15 * MINUTE
/** How much older than the vendor's `Date` the objects of a list may be (ms): lists may lag. */
export const LIST_LAG_MS = MINUTE
/** The cron sends a page again that is overdue by this much (ms), and at most this many pages at once. */
export const OVERDUE_MS = MINUTE
export const MAX_RESENT = 100
/** After this long (ms), the imports of a batch that are left are read by another worker, whose messages come after so many seconds. */
export const IMPORTS_WITHIN_MS = 20 * SECOND
export const HANDED_ON_WAIT_S = 1
/** Prices that an import reads. No account is known to have as many. */
export const MAX_PRICES = 10_000
