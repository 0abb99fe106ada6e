/** A page of events stops before its payloads exceed this many bytes (2 MiB, before base64). */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024
/** Open events that a count by status looks at, and as many held ones. */
export const MAX_OPEN_COUNTED = 1000
