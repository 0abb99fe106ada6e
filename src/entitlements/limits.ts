/** Live grants of one consumer. The write itself enforces the limit. */
export const MAX_GRANTS = 100
/** Characters (code points) of the reason of a grant. */
export const MAX_REASON = 200
/** Consumers that one check asks about. */
export const MAX_CONSUMERS = 100
/** Features that one check asks about. */
export const MAX_ASKED_FEATURES = 20
/** Subscriptions, and grants that were not revoked, that one call looks at. A call that needs more is refused. */
export const MAX_SOURCES = 5_000
