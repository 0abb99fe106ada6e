/** Results of one type in an answer. */
export const MOST_OF_A_TYPE = 5
/** Characters of a text to search for. */
export const MAX_TEXT = 200
/** The fewest characters of a vendor's id: fewer match too many objects. */
export const FEWEST_OF_VENDOR_ID = 3
