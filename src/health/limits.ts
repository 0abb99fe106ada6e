import { MINUTE, SECOND } from '../lib/time'

/** Beyond these the pipeline counts as degraded, or failing: ages in milliseconds, shares of 1. */
export const THRESHOLDS = {
  degraded: {
    oldest_pending_age_ms: 2 * MINUTE,
    sweep_age_ms: 5 * MINUTE,
    failed_last_60m: 1,
    failed_fetches_last_60m: 1,
    expired_leases: 1,
    // Deliveries refused to an active connection of which nothing was accepted in the same time. In an hour one is
    // enough, because a vendor may try an event again only hours later. In five minutes a stray one is not.
    refused_last_5m: 5,
    refused_last_60m: 1,
    store_share: 0.8,
    // Changes that the watcher of entitlements has not read.
    unread_age_ms: 15 * MINUTE,
  },
  failing: {
    oldest_pending_age_ms: 15 * MINUTE,
    sweep_age_ms: 30 * MINUTE,
    failed_share_last_60m: 0.5,
    unreadable_secrets: 1,
  },
}

/** The Queue must tell its backlog within this time (ms), or it counts as unknown. */
export const BACKLOG_WITHIN_MS = SECOND

/** Open events, and ambiguous or incomplete objects, that health counts. With more, the count is a lower bound. */
export const MAX_COUNTED = 10_000

/** Purchases without items that health counts: where one is, many may be, and the pages that show health are read often. */
export const MAX_ITEMS_MISSING = 1_000

/** An answer of `GET /healthz` is at most this old (ms). */
export const HEALTH_AGE_MS = 5 * SECOND
/** A request for it waits no longer than this for what another one is reading (ms). */
export const HEALTH_WITHIN_MS = 10 * SECOND

/** The most points that a lag series has by default, … */
export const DEFAULT_POINTS = 300
/** … and that it can have. */
export const MAX_POINTS = 1500
