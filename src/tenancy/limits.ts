/** Projects that one user can own. The INSERT enforces the limit, whether the user or one of their API keys creates. */
export const MAX_OWNED_PROJECTS = 100

/** The highest value of the setting `max_devices`. */
export const MAX_DEVICES = 1_000
