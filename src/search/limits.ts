/** Results of one type in an answer. */
export const MOST_OF_A_TYPE = 5
/** Characters of a text to search for. */
export const MAX_TEXT = 200
