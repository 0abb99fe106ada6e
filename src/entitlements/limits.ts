/** Live grants of one consumer. The write itself enforces the limit. */
export const MAX_GRANTS = 100
/** Characters (code points) of the reason of a grant. */
export const MAX_REASON = 200
