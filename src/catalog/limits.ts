/** Earlier revisions that are kept of a plan. */
export const MAX_REVISIONS = 200
/** Features of a project. The write itself enforces the limit. */
export const MAX_FEATURES = 200
/** Grants that one transaction looks at when a feature is deleted. */
export const MAX_GRANTS_WALKED = 5_000
/** Plans of a project, archived ones too. The write itself enforces the limit. */
export const MAX_PLANS = 100
/** Features of one plan. */
export const MAX_FEATURES_OF_PLAN = 100
/**
 * Bytes of what all plans of a project give, as JSON. The write itself enforces the limit: a plan that takes more than before is refused
 * beyond it. A project that was beyond it before there was a limit stays readable, and its plans can become smaller.
 */
export const MAX_CATALOG_BYTES = 1024 * 1024
/** Bytes of a whole catalog as a body: room for {@link MAX_CATALOG_BYTES}, and as much again in names and prices. One statement takes all prices. */
export const MAX_CATALOG_BODY_BYTES = 1.5 * 1024 * 1024
/** Bytes of the plans on one page of a list. The last plan may go beyond. */
export const MAX_PLAN_PAGE_BYTES = 256 * 1024
/** Bytes of the revisions that are kept of all plans of a project. The oldest ones are deleted first. */
export const MAX_REVISION_BYTES = 8 * 1024 * 1024
/** Bytes of the revisions that a plan's history compares. Of older ones, it only knows which fields changed. */
export const MAX_HISTORY_BYTES = 256 * 1024
/** Bytes of a revision that lists of changes compare: each of them may show many. */
export const MAX_COMPARED_BYTES = 16 * 1024
/** Prices and products of vendors that are mapped to one plan. */
export const MAX_PRICES_OF_PLAN = 50
/** Characters (code points) of the name of a feature or a plan. */
export const MAX_CATALOG_NAME = 100
/** The highest rank of a plan. */
export const MAX_RANK = 1000
/** Bytes of the value of a config feature, as JSON. */
export const MAX_CONFIG_BYTES = 2048
/** Levels of arrays and objects in the value of a config feature. */
export const MAX_CONFIG_DEPTH = 20
/** Subscriptions, the last changed ones, whose items say what a price costs. */
export const SUBSCRIPTIONS_WITH_AMOUNTS = 200
/** Subscriptions, and purchases, the last changed ones, whose items are looked at for prices that no plan has. */
export const NEWEST_SUBSCRIPTIONS = 1_000
/**
 * Bytes of these subscriptions, as they are stored: an ordinary one takes some 1,000. The one that goes beyond is the last. Of a hundred items
 * each, or of events that tie, 1,000 subscriptions take up to 600 MB, and the database would do nothing else for many seconds.
 */
export const MAX_SUBSCRIPTION_BYTES = 2 * 1024 * 1024
/** Prices that no plan has, as the console lists them. */
export const MAX_UNMAPPED = 50
