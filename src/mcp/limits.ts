/** Bytes of the JSON that a tool answers with. A client may be sent it twice: as an object, and as text. */
export const MAX_TOOL_ANSWER_BYTES = 24 * 1024
/** Places of an answer that it says were shortened. */
export const MAX_PLACES_TOLD = 20
/** Characters of an id of a request that a client may choose. Every answer repeats it. */
export const MAX_REQUEST_ID = 200
