import { MINUTE, SECOND } from '../../lib/time'

/** How long an isolate keeps the metadata of a provider (ms). The library keeps its keys for five minutes. */
export const METADATA_TTL = 10 * MINUTE
/** Providers whose metadata an isolate keeps. Their keys are kept with it. */
export const MAX_PROVIDERS = 32
/** Bytes of a provider's keys. Parsed, they take a few times as much memory. */
export const MAX_KEYS_BYTES = 128 * 1024
/** Signing algorithms of a provider's discovery document that are kept, and characters of each. There are 13 in use. */
export const MAX_ALGORITHMS = 20
export const MAX_ALGORITHM = 20
/** How long the requests to a provider may take together, after a browser has come back (ms). */
export const IDENTIFY_WITHIN = 10 * SECOND
/** How old an ID token may be when it arrives, and how far ahead of our clock (ms). */
export const MAX_TOKEN_AGE = 10 * MINUTE
export const MAX_TOKEN_AHEAD = MINUTE
/** Characters of `sub` and `sid`. OpenID Connect Core 1.0, section 2, has the same limit for `sub`. */
export const MAX_SUBJECT = 255
/** Characters of an email address, and of a name. */
export const MAX_CLAIMED_EMAIL = 254
export const MAX_CLAIMED_NAME = 200
/** Bytes of the claims of an identity, as JSON. */
export const MAX_CLAIMS = 8192
/** Characters of what a provider says itself, in our messages. */
export const MAX_QUOTED = 300
