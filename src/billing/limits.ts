/** Rows that one page of a list goes through at most, full or not. */
export const MAX_SCANNED = 5_000
/**
 * Rows that one page of a list reads at most: a page that is not full goes through them again, to find where it ended.
 */
export const MAX_ROWS_READ = 2 * MAX_SCANNED

/** Events of one rank that an object keeps. With this many at the same time, the object is ambiguous. */
export const MAX_TIED = 16
/**
 * Tied events that are put in order. Each further event doubles the work. With more of them, the object is ambiguous.
 */
export const MAX_ORDERED = 10

/** Bytes of objects' rows that are read at once to apply several events. */
export const MAX_ROW_BYTES_READ = 4 * 1024 * 1024

/**
 * Bytes of the values that an effect shows before and after. They are in the event's row, which SQLite reads on the way
 * to the rows around it.
 */
export const MAX_CHANGE_BYTES = 4000

/** Characters of a vendor's id in a filter. */
export const MAX_ID_LENGTH = 200
/** Characters of a vendor's name in a filter. */
export const MAX_VENDOR_LENGTH = 40
