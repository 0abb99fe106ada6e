import { DAY, SECOND } from '../lib/time'

/** The sweep sends an event again that has not been processed this long after it arrived or its replay was requested (ms). */
export const FIRST_DUE_MS = 30 * SECOND

/** Projects with open events that are not held, of one sweep. */
export const MAX_SWEPT_PROJECTS = 1000
/**
 * Projects that it looks at in all. Those that only hold events count little, so that they do not keep the sweep from others. Projects
 * after these, in the order of ids, are not swept until some of these have no open events.
 */
export const MAX_OPEN_PROJECTS = 10_000

/** How long rollups are kept by the minute (ms). Older ones are kept by the hour. */
export const MINUTES_KEPT_MS = 2 * DAY

/** Shorter texts (bytes) are stored as they are: deflating them would hardly make them smaller. */
export const MIN_DEFLATED_BYTES = 200

/** What an event changed is stored as it is if it is shorter as JSON (characters): packing it would save few bytes. */
export const MIN_PACKED_CHANGES = 200

/** Open events that are added to the rollups as received: at most so many of a project. */
export const MAX_OPEN_RECEIVED = 10_000

/** Events that one step deletes. Each is some ten rows. */
export const CHUNK_EVENTS = 500

/** Payloads that one step deletes: each has up to 1 MiB, and D1 must free all of it in the time that a query may take. */
export const CHUNK_PAYLOADS = 200

/** Payloads, and bytes of them, that one step moves to `bodies`. The database does nothing else meanwhile. */
export const MOVED_PAYLOADS = 200

export const MOVED_BYTES = 4 * 1024 * 1024

/** Bodies that one step packs, the bytes of them that it reads, and the hexadecimal digits that it writes. */
export const PACKED_AT_ONCE = 200

export const PACKED_BYTES = 2 * 1024 * 1024

export const PACKED_LIST_BYTES = 900_000

/** A rollup that is written this long after its minute was folded (ms) stays as it is until its retention ends. */
export const LATE_MS = 7 * DAY
