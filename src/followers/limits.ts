import { MINUTE } from '../lib/time'

/** How long a message that wakes a follower is believed to be on its way (ms). After that, the cron sends another one. */
export const WOKEN_FOR = MINUTE
/** How long sending to a Queue may take (ms). The cron sends what was not sent. */
export const SEND_WITHIN_MS = 5000
/** Messages that one `sendBatch` takes. */
export const MESSAGES_AT_ONCE = 100
/** Requests that an endpoint gets at the same time, at most. */
export const MOST_AT_ONCE = 5
