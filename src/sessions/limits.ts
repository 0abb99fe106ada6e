import { DAY, HOUR, MINUTE } from '../lib/time'

/** A session ends this long after its last use (ms), … */
export const SESSION_IDLE = 12 * HOUR
/** … and at the latest this long after its start (ms). */
export const SESSION_MAX = 7 * DAY
/** A session from single sign-on ends this long after its start (ms), because so long stays who was removed at the provider. */
export const SSO_SESSION_MAX = 12 * HOUR
/** The end of a session is moved at most this often (ms). */
export const SLIDE_EVERY = 10 * MINUTE

/** How long a sign-in code is valid (ms). ASVS 6.5.5 allows ten minutes at most: see docs/operate/security.md. */
export const CODE_TTL = 10 * MINUTE
/** Attempts to redeem a sign-in code. */
export const CODE_TRIES = 5
/** Codes sent to one mailbox in an hour, … */
export const CODES_PER_HOUR = 20
/** … of which one requester gets at most this many. */
export const CODES_PER_REQUESTER = 10
/** Codes in an hour that each requester gets for a mailbox, even if others have used up its {@link CODES_PER_HOUR}. */
export const CODES_FOR_EACH = 3
/** Codes in an hour that the requesters of one site, an IPv6 /48, get for a mailbox together: it holds 65,536 of them. */
export const CODES_PER_SITE = 100
