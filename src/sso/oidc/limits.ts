import { MINUTE } from '../../lib/time'

/** How long an isolate keeps the metadata of a provider (ms). The library keeps its keys for five minutes. */
export const METADATA_TTL = 10 * MINUTE
/** Providers whose metadata an isolate keeps. Their keys are kept with it, and may be 512 KB each. */
export const MAX_PROVIDERS = 32
/** How old an ID token may be when it arrives, and how far ahead of our clock (ms). */
export const MAX_TOKEN_AGE = 10 * MINUTE
export const MAX_TOKEN_AHEAD = MINUTE
/** Characters of `sub` and `sid`. OpenID Connect Core 1.0, section 2, has the same limit for `sub`. */
export const MAX_SUBJECT = 255
/** Characters of an email address, and of a name. */
export const MAX_EMAIL = 254
export const MAX_NAME = 200
/** Bytes of the claims of an identity, as JSON. */
export const MAX_CLAIMS = 8192
/** Characters of what a provider says itself, in our messages. */
export const MAX_QUOTED = 300
