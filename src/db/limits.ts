/**
 * Bytes of a list that travels as one JSON parameter. D1 takes values of up to 2,000,000 bytes, and holds each of them
 * several times while it runs the statement.
 */
export const MAX_LIST_BYTES = 1_000_000

/** Rows that one step deletes, or folds. */
export const CHUNK_ROWS = 2000

/** Billing objects, or connections, that one step deletes. Few have more than some 1,000 bytes, but some have 600,000. */
export const CHUNK_OBJECTS = 200

/** Names that begin alike, among which those that have other words too are looked for. */
export const MOST_NAMES_LOOKED_AT = 100
