import { DAY, HOUR } from '../lib/time'

/** Live grants of one consumer. The write itself enforces the limit. */
export const MAX_GRANTS = 100
/** Characters (code points) of the reason of a grant. */
export const MAX_REASON = 200
/** Consumers that one check asks about. */
export const MAX_CONSUMERS = 100
/** Features that one check asks about. */
export const MAX_ASKED_FEATURES = 20
/** Subscriptions, and grants that were not revoked, that one call looks at. A call that needs more is refused. See {@link MAX_EXPIRED}. */
export const MAX_SOURCES = 5_000
/** Items of subscriptions that one call looks at. */
export const MAX_ITEMS = 10_000
/**
 * Expired grants of one consumer that one call looks at, of each feature or plan and effect: the newest ones. They only say why
 * something is not allowed. Without a limit, a consumer with many of them would be refused every answer.
 */
export const MAX_EXPIRED = 5
/** Features, times the items and grants that each is explained by, in one answer. */
export const MAX_EXPLAINED = 20_000
/** How far back one can ask what a consumer was allowed to do (days). */
export const MAX_DAYS_BACK = 400
/** Events of its subscriptions that are looked at for that. */
export const MAX_HISTORY = 1_000
/** Events of its customers that are looked at for that, the oldest of each customer: as many of each. */
export const MAX_LINK_EVENTS = 5_000
/** Entries of the audit log that are looked at for that. */
export const MAX_AUDIT_WALKED = 5_000
/** Subscriptions, and as many grants, that one call of a preview walks. */
export const MAX_WALKED = 5_000
/** Of these, how many that have the plan are looked at with their consumers. */
export const MAX_PREVIEWED = 1_000
/** Reads of facts that one call of a preview makes to find those who are too much for one answer. */
export const MAX_PREVIEW_READS = 20
/** Changes that one call of a preview shows. */
export const MAX_CHANGES = 50
/** How long a token is valid (seconds): the least, the most, and without a wish. */
export const MIN_TTL_S = 60
export const MAX_TTL_S = 3_600
export const DEFAULT_TTL_S = 300
/** The age at which the key that signs gets a successor, which is published at once (ms) … */
export const NEXT_AFTER = 80 * DAY
/** … and the age at which the successor takes its place (ms). */
export const ROTATE_AFTER = 90 * DAY
/** How long a successor must have been published before (ms). */
export const PUBLISHED_FOR = DAY
/** How long a key is published after it was rotated (ms): longer than a token is valid. */
export const RETIRED_FOR = 2 * HOUR
/** Retired keys of a project that are published at once. A rotation by hand that would make more is refused. */
export const MAX_RETIRED = 10
/** How long a response with public keys may be cached (seconds). */
export const JWKS_MAX_AGE_S = 300
