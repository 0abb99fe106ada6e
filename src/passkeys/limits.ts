import { MINUTE } from '../lib/time'

/** Passkeys of one user. The INSERT enforces the limit. */
export const MAX_PASSKEYS = 10
/** Length of the name of a passkey, in code points. */
export const MAX_PASSKEY_NAME = 100
/** How long a browser has to answer a challenge (ms). */
export const CHALLENGE_TTL = 5 * MINUTE
/** Recovery codes that are made together. */
export const RECOVERY_CODES = 10
