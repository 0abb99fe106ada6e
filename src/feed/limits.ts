/** Days for which a change is kept. A reader that has not read for so long begins again. */
export const KEPT_DAYS = 30

/** Changes of one page, at most and by default. */
export const MAX_PAGE = 500
export const DEFAULT_PAGE = 100

/**
 * Rows that one page looks at: with a filter, it may find few changes in many rows. D1 counts each about four times, because the sum
 * of their bytes is a window.
 */
export const MAX_ROWS_LOOKED_AT = 230
/** Bytes of stored changes that one page looks at. */
export const MAX_BYTES_LOOKED_AT = 512 * 1024

/** When to ask again (s) after the newest change was read. */
export const POLL_AFTER_S = 5

/** Types in one filter, and characters of each. */
export const MAX_NAMED_TYPES = 50
export const MAX_NAMED_TYPE_LENGTH = 60
