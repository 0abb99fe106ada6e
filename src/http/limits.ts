import { SECOND } from '../lib/time'

/** How long an address with too many failures is refused (ms). */
export const BLOCK_MS = 10 * SECOND
/** Blocked addresses that an isolate remembers, for each kind of failure. */
export const MAX_BLOCKED = 10_000
/** Credentials that an isolate has seen to be good and remembers. */
export const MAX_KNOWN_CREDENTIALS = 10_000

/** How long the body of a request may take to arrive (ms). */
export const BODY_DEADLINE = 30 * SECOND
/** Bytes of bodies that an isolate holds while they are still arriving. A Worker has 128 MB of memory for everything. */
export const MAX_ARRIVING_BYTES = 32 * 1024 * 1024
