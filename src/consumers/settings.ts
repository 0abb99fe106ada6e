/*
 * How events link a vendor's customers to consumers. These are the defaults of settings that a project cannot change yet.
 */

/** Whether claims that a buyer may have chosen are recorded. */
export const LINK_HINTS = true
/** The keys of metadata or custom data that hold the external id of a consumer, the most important one first. */
export const CONSUMER_KEYS: readonly string[] = ['consumer_external_id']
