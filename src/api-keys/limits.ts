import { DAY, MINUTE } from '../lib/time'

/** Live keys in a project. The INSERT enforces the limit. */
export const MAX_LIVE_KEYS = 100
/**
 * Keys that a project can mint in a day. Revoking a key looks at every key that the project ever had, for secrets that were handed on.
 * Without this limit, one project could make that slow for all in its store.
 */
export const MAX_MINTED_A_DAY = 1_000
/** Blocks of addresses that a key can be limited to. */
export const MAX_NETWORKS = 20
/** Characters of such a block as it is sent; the longest address of IPv6 with its prefix has 49. */
export const MAX_NETWORK_TEXT = 64
/** Length of a key's name, in code points. */
export const MAX_KEY_NAME = 100
/** Time between two writes of `last_used_at` of a key (ms). It is also how long KV remembers one: KV's minimum is a minute. */
export const LAST_USED_EVERY = MINUTE
/** The longest lifetime of a key that expires (ms). */
export const MAX_LIFETIME = 3650 * DAY
/** Keys whose use an isolate counts until it is written. A key takes some KB. */
export const MAX_COUNTED_KEYS = 500
/** Different numbers of a key and day, such as operations and codes of refusals. */
export const MAX_DAY_COUNTS = 100
/** Networks of a key and day that are remembered, and how many the API shows of them. */
export const MAX_DAY_NETWORKS = 20
export const SHOWN_NETWORKS = 5
/** User agents of a key and day, by their family. */
export const MAX_DAY_AGENTS = 5
/** Length of such a family. */
export const MAX_AGENT = 40
/** Refused calls of a key that are remembered. */
export const MAX_REFUSED_CALLS = 20
/** Operations of a day that the API shows. */
export const SHOWN_OPERATIONS = 10
/** Days that the use of a key is kept. */
export const USE_DAYS = 90
/** The most days for which a list can ask for keys that were not used. */
export const MAX_UNUSED_DAYS = 3650
/** Live traffic is counted in steps of so long (ms). */
export const TRAFFIC_STEP = 10 * MINUTE
/** Entries in the isolate's map of recorded uses. */
export const MAX_RECORDED_USES = 10_000
