/** A page of events stops before its payloads exceed this many bytes (4 MiB, before base64). */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024
