import { DAY, HOUR } from '../lib/time'

/** The age at which the key that signs gets a successor, which is published at once (ms) … */
export const NEXT_AFTER = 80 * DAY

/** … and the age at which the successor takes its place (ms). */
export const ROTATE_AFTER = 90 * DAY

/** How long a successor must have been published before (ms). */
export const PUBLISHED_FOR = DAY

/** How long a key is published after it was rotated (ms): longer than a token is valid. */
export const RETIRED_FOR = 2 * HOUR

/** Retired keys of a project that are published at once. A rotation by hand that would make more is refused. */
export const MAX_RETIRED = 10

/** How long a response with public keys may be cached (seconds). */
export const JWKS_MAX_AGE_S = 300

/** Keys of entitlement tokens that one step deletes, rotates or makes, each. A new one takes a millisecond of CPU time. */
export const RENEWED_KEYS = 50
