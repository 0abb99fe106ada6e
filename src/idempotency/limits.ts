import { DAY, MINUTE } from '../lib/time'

/** How long a key is kept at least (ms). Housekeeping deletes it within the hour after that. */
export const KEPT_FOR = DAY

/** How long after a mint a repeat of it may get a new secret, if the key was never used (ms). */
export const SECRET_AGAIN_WITHIN = 10 * MINUTE

/** Characters of a key. */
export const MAX_KEY_CHARS = 255
