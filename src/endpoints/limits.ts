import { DAY, HOUR, MINUTE, SECOND } from '../lib/time'

/** Endpoints of a project. The insert itself enforces the limit. */
export const MAX_ENDPOINTS = 10
/** Characters of an endpoint's address. */
export const MAX_URL_LENGTH = 1000
/** Secrets that sign for one endpoint, at most. It always has one. */
export const MAX_ENDPOINT_SECRETS = 3
/** Random bytes of a secret. Standard Webhooks asks for 24 to 64; as base64, 24 need no padding. */
export const SECRET_BYTES = 24
/** Characters at the end of a secret that its hint shows. */
export const SECRET_HINT = 4

/** How long one attempt may take (ms), with the beginning of the answer's body. */
export const ATTEMPT_WITHIN_MS = 15 * SECOND
/** How long we wait for the body after the status (ms). What has come by then is kept. */
export const ANSWER_WITHIN_MS = SECOND
/** What is kept of an answer (bytes): of a failure, to find out why; of a success less, because there are many. */
export const KEPT_OF_FAILURE = 1024
export const KEPT_OF_SUCCESS = 128
/** Bytes of the answers that one row of the log keeps. */
export const MAX_LOGGED = 32 * 1024

/** How long after each failed attempt the next one is made (ms). After the last of these, a change is given up. */
export const RETRY_WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((h) => h * HOUR)]
/** How much of a wait is random, either way, so that what failed together does not come together. */
export const JITTER = 0.1
/** The longest `Retry-After` that we obey (ms). */
export const MAX_HELD_MS = DAY
/** Failures in a row after which an endpoint is failing, and gets one attempt at a time. */
export const FAILURES_TO_OPEN = 5
/** How long every attempt has failed (ms) before an endpoint is disabled. */
export const DISABLED_AFTER_MS = 5 * DAY

/** How long a run begins attempts (ms): in the first queue, where an attempt takes no longer either, and in the second one. */
export const RUN_MS = { fast: SECOND, slow: 20 * SECOND }
/** An endpoint returns to the first queue after a run of so many attempts, each of which took no longer than this (ms). */
export const FAST = { attempts: 5, ms: 300 }
/** Changes that one read of a run takes, and if they are sent with their objects; retries that it takes. */
export const PAGE = 100
export const PAGE_WITH_OBJECTS = 20
export const RETRIES = 20
/** Bytes of the events that one read of a relay takes. The largest delivery has half of this. */
export const MAX_RELAYED_BYTES = 2 * 1024 * 1024
/** Connections, and types of events, that a relay names. */
export const MAX_RELAY_NAMES = 50
/** Changes of an endpoint that wait for a retry. With so many, no new one is sent. */
export const MAX_PENDING = 1000
/** How long such an endpoint waits if none of them is due (ms). */
export const FULL_WAIT_MS = MINUTE
/** Reads of one run. */
export const RUN_READS = 40
/** How long a worker has an endpoint for itself (ms). Each of its writes renews it. */
export const LEASE_MS = MINUTE

/** Endpoints that one run of the cron wakes in a store. Those that were woken last come last. */
export const MAX_WOKEN = 500
/** How long after a message for an endpoint the cron sends another one (ms). Less than the minute of the cron. */
export const WOKEN_MS = 50 * SECOND
/** A retry that is due within this time (ms) has a message of its own. The cron finds the later ones. */
export const SOON_MS = MINUTE

/** Days for which the log, the failed deliveries and the finished resends are kept. */
export const LOG_DAYS = 30
/** Statements after which an invocation begins no further read: D1 takes 1,000 in one. */
export const RUN_STATEMENTS = 800
/** Ranges, and single changes, that are resent to an endpoint and not done yet. */
export const MAX_OPEN_RESENDS = 20
