// The extension is for `npm run stores`, which runs in Node.js.
import { MINUTE, SECOND } from '../lib/time.ts'

/** The most bytes that a D1 database can have on Workers Paid: https://developers.cloudflare.com/d1/platform/limits/ */
export const MAX_STORE_BYTES = 10_000_000_000

/** From this share of {@link MAX_STORE_BYTES} on, a store takes new projects only if all open stores are that full. */
export const ROOMY_SHARE = 0.5

/** A new store takes projects this long after the cron first saw it (ms): by then no isolate runs without its binding. */
export const OPENS_AFTER_MS = 10 * MINUTE

/** The directory must answer `GET /healthz` within this time (ms). */
export const PING_TIMEOUT_MS = 2 * SECOND

/** A store that the cron has not reached for this long (ms) counts as failing. */
export const SEEN_WITHIN_MS = 15 * MINUTE
