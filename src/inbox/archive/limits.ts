import { DAY } from '../../lib/time'

/**
 * Events of one pack are of the same period (ms), so that a pack can be deleted soon after the retention of its oldest event. A period is
 * archived once it is over.
 */
export const PACKED_PERIOD_MS = 7 * DAY

/** Events that one step reads, and bytes of them. Each is some ten rows. */
export const ARCHIVED_AT_ONCE = 500
export const ARCHIVED_BYTES = 2 * 1024 * 1024

/** Bytes of the records of a pack, as JSON. A read of one record unpacks all of them. */
export const MAX_PACK_BYTES = 400_000

/** Packs that one step writes: a transaction each. */
export const PACKS_AT_ONCE = 20

/** Packs that one page of a timeline unpacks, and in which an event is looked for. */
export const PACKS_A_PAGE = 5
