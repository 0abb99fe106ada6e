import { DAY } from '../lib/time'

/** Length of a project's name, in code points. */
export const MAX_NAME = 100

/** How long an owner can restore a deleted project (ms). Then its data is deleted. */
export const RESTORABLE_FOR = 30 * DAY

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
