import { SECOND } from '../../lib/time'

/** How long one call of a vendor's API may take, and the reading of its answer with it (ms). */
export const CALL_WITHIN = 10 * SECOND
/** The largest answer of a vendor's API, in bytes after decompression. */
export const CALL_BYTES = 2 * 1024 * 1024
