import { DAY, HOUR, MINUTE } from '../lib/time'

/** A session ends this long after its last use … */
export const SESSION_IDLE = 12 * HOUR
/** … and this long after its start whatever happens. */
export const SESSION_MAX = 7 * DAY
/** A slide of the end is written at most this often. */
export const SLIDE_EVERY = 10 * MINUTE

/** A sign-in code lives this long … */
export const CODE_TTL = 10 * MINUTE
/** … and stands this many tries. */
export const CODE_TRIES = 5
/** Codes an address may be sent an hour. */
export const CODES_PER_HOUR = 20
