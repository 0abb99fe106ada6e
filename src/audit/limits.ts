/** Entries that one page of a filtered audit log looks at before it ends, full or not. */
export const MAX_LOOKED_AT = 5000
/** Characters of an id, or of an action, to filter by. */
export const MAX_FILTER_LENGTH = 100
