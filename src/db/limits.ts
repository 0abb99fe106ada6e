/**
 * Bytes of a list that travels as one JSON parameter. D1 takes values of up to 2,000,000 bytes, and holds each of them
 * several times while it runs the statement.
 */
export const MAX_LIST_BYTES = 1_000_000
