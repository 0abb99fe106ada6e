/** Projects that one user can own. The INSERT enforces the limit, whether the user or one of their API keys creates. */
export const MAX_OWNED_PROJECTS = 100

/** The highest value of the setting `max_devices`. */
export const MAX_DEVICES = 1_000

/** Keys of metadata that can hold the external id of a consumer. */
export const MAX_CONSUMER_KEYS = 5

/** Characters of such a key: as many as Stripe allows. */
export const MAX_CONSUMER_KEY = 40

/** The highest setting `grace_days`. */
export const MAX_GRACE_DAYS = 60

/** The highest setting `renewal_slack_hours`: a week. */
export const MAX_RENEWAL_SLACK_HOURS = 168

/** Single sign-on connections of other projects that a project trusts. */
export const MAX_TRUSTED_CONNECTIONS = 10

/** Projects that one step of housekeeping looks at. */
export const PROJECTS_AT_ONCE = 1000
