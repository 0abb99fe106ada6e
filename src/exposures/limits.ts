import { HOUR, MINUTE, SECOND } from '../lib/time'

/** Characters of a secret in a report: room for what is not ours. */
export const MAX_REPORTED = 1_000
/** How long a report is answered after it arrived (ms), at the earliest: so the time does not tell whether the secret works. */
export const ANSWER_AFTER_MS = 500
/** Stores that are asked at once: a request has six connections, and one asks the directory. */
export const STORES_AT_ONCE = 5

/** The largest report of GitHub's (bytes), and the tokens in it. */
export const MAX_REPORT_BYTES = 1024 * 1024
export const MAX_TOKENS = 1_000
/** How long GitHub's public keys are used (ms) before they are asked for again, … */
export const KEYS_FOR = HOUR
/** … and how often a signature with a key that is not known makes us ask (ms). */
export const UNKNOWN_KEY_EVERY = MINUTE
/** The largest answer with GitHub's keys (bytes). They are less than 1 KB each. */
export const MAX_GITHUB_KEYS_BYTES = 64 * 1024

/** How long GitHub is not asked for its keys after it failed to give them (ms). */
export const KEYS_PAUSE = 10 * SECOND
