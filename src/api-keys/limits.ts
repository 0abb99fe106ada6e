import { DAY, MINUTE } from '../lib/time'

/** Live keys of a project. The insert itself holds the limit. */
export const MAX_LIVE_KEYS = 100
/** Characters (code points) of a key's name. */
export const MAX_NAME = 100
/** `last_used_at` is written at most this often for each key (ms). */
export const LAST_USED_EVERY = MINUTE
/** How far ahead a key's expiry may be (ms). */
export const MAX_LIFETIME = 3650 * DAY
/** Keys whose use an isolate remembers having recorded. */
export const MAX_RECORDED_USES = 10_000
