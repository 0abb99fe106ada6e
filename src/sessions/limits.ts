import { DAY, HOUR, MINUTE } from '../lib/time'

/** A session ends this long after its last use (ms), … */
export const SESSION_IDLE = 12 * HOUR
/** … and at the latest this long after its start (ms). */
export const SESSION_MAX = 7 * DAY
/** The end of a session is moved at most this often (ms). */
export const SLIDE_EVERY = 10 * MINUTE

/** How long a sign-in code is valid (ms). */
export const CODE_TTL = 10 * MINUTE
/** Attempts to redeem a sign-in code. */
export const CODE_TRIES = 5
/** Codes sent to one address in an hour. */
export const CODES_PER_HOUR = 20
