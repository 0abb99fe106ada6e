/** Characters (code points) of the reason of a grant. */
export const MAX_GRANT_REASON = 200

/** Consumers that one check asks about. */
export const MAX_CONSUMERS = 100

/** Features that one check asks about. */
export const MAX_ASKED_FEATURES = 20

/** Subscriptions, and grants that were not revoked, that one call looks at. A call that needs more is refused. See {@link MAX_EXPIRED}. */
export const MAX_SOURCES = 5_000

/** Items of subscriptions that one call looks at. */
export const MAX_SUBSCRIPTION_ITEMS = 10_000

/**
 * Expired grants of one consumer that one call looks at, of each feature or plan and effect: the newest ones. They only say why
 * something is not allowed. Without a limit, a consumer with many of them would be refused every answer.
 */
export const MAX_EXPIRED = 5

/** Features, times the items and grants of the consumers that each is derived from, in one call. One that needs more is refused. */
export const MAX_DERIVED = 1_000_000

/**
 * Bytes of what a plan gives, as JSON, that a call reads whether or not it needs the plan. It reads a larger plan only if the
 * consumers have it, in a second read. So the first one is small, whatever the catalog is.
 */
export const MAX_SMALL_PLAN = 4 * 1024

/** Bytes of the value of a grant that the first read takes. Every boolean and every quantity has fewer. */
export const MAX_SMALL_VALUE = 256

/** Features, times the items and grants that each is explained by, in one answer. */
export const MAX_EXPLAINED = 20_000

/** Characters of what explains all features of a consumer, as JSON. */
export const MAX_EXPLANATION_BYTES = 1024 * 1024

/** How far back one can ask what a consumer was allowed to do, and how far ahead what it will be (days). */
export const MAX_DAYS_FROM_NOW = 400

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

/** Features that can become different, times the consumers and what they have, that one call of a preview works out. */
export const MAX_PREVIEW_WORK = 100_000

/** So much of it at a time. Then other requests have their turn. */
export const PREVIEW_SLICE = 5_000

/** Changes that one call of a preview shows. */
export const MAX_CHANGES = 50

/** How long a token is valid (seconds): the least, the most, and without a wish. */
export const MIN_TTL_S = 60

export const MAX_TTL_S = 3_600

export const DEFAULT_TTL_S = 300

/** Invoices among which one call looks for the newest paid ones of subscriptions. With more, it does not look. */
export const MAX_INVOICES_LOOKED_AT = 10_000
