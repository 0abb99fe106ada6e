import { SECOND } from '../../lib/time'

/** How long a code can be exchanged (ms). */
export const CODE_TTL = 60 * SECOND
/** Random bytes of a code. */
export const CODE_BYTES = 32
/** Characters of the `state` that an application gets back. */
export const MAX_APP_STATE = 500
/** Characters of a hint for the provider. */
export const MAX_LOGIN_HINT = 254
/** Consumers with one email address that a first sign-in looks at. If there are as many, it links none of them. */
export const MAX_SAME_ADDRESS = 100
