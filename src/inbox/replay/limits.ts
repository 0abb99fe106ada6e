/** The most events that one bulk replay reopens. */
export const MAX_REPLAYED = 1000
/** Events that a bulk replay sends to the Queue per second. */
export const REPLAYED_PER_SECOND = 100
/** The most bounded searches that one bulk replay runs. A filter that no index answers may need several. */
export const MAX_SEARCHES = 10
