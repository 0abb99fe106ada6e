/** A page of events stops before its payloads exceed this many bytes (2 MiB, before base64). */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024
/** Open events that a count by status looks at, and as many held ones. */
export const MAX_OPEN_COUNTED = 1000
/**
 * Events that refer to an object which are looked at for the last one before an event: so many of each source that were received before it,
 * and as many after it.
 */
export const NEAR_EVENTS = 20
/** Bytes of the payload that an event is compared with. */
export const MAX_BEFORE_BYTES = 256 * 1024
