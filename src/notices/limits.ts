import { DAY, HOUR, MINUTE } from '../lib/time'

/** Open notices of a project. With so many, no other one is opened; a statement that opens several can go beyond. */
export const MAX_OPEN_NOTICES = 200
/** Of these, notices about exposed tokens of devices. With so many, devices are ended without one. */
export const MAX_DEVICE_NOTICES = 20
/** How long a notice must have been closed (ms) before it is mailed again. */
export const MAILED_AGAIN_AFTER = DAY
/** Characters of a text that comes from outside, such as an address or the answer of a server. */
export const MAX_FACT = 300
/** How many fields and unknown words a notice about a format lists. It says how many more there are. */
export const MAX_LISTED = 5
/**
 * Characters of the prefixes that a notice keeps of secrets that were exposed before the one that it shows: 16 of them. A secret that is
 * left out, and still works, is told of again if it is reported again.
 */
export const MAX_EARLIER = 16 * 17
/** How long a closed notice is kept (ms). */
export const CLOSED_KEPT = 90 * DAY
/** Open notices that one step of the cron looks at. */
export const CLOSED_AT_ONCE = 200
/** How long a notice of a secret that was ended stays open (ms). */
export const EXPOSED_OPEN_FOR = 7 * DAY

/** Emails of a project in a day (UTC). What is due after that waits for the next day, and comes in one email. */
export const MAILS_OF_PROJECT = 10
/** Emails about projects that an address gets in a day (UTC). */
export const NOTICE_MAILS_TO_ADDRESS = 20
/** Members of a project who get its emails, at most: owners first. */
export const MAX_READERS = 50
/** Notices that one email describes. It says how many more there are. */
export const MAX_IN_MAIL = 20
/** Projects whose emails one run of the cron sends from a store, and due notices that it looks at for that. */
export const PROJECTS_A_RUN = 3
export const DUE_LOOKED_AT = 500
/** How long after each failed attempt an email is tried again (ms). After the last of these, it is given up. */
export const MAIL_WAITS = [5 * MINUTE, 20 * MINUTE, HOUR, 4 * HOUR]
/** How long after a notice was opened an email that cannot be prepared is given up (ms). */
export const PREPARED_WITHIN = 7 * DAY
/** Emails that are sent at the same time. */
export const MAILS_AT_ONCE = 5

/** Refused deliveries of a connection in the window (ms), with none accepted, that open `connection_degraded`. */
export const DEGRADED = { refused: 20, window: 15 * MINUTE }
/** Events of a connection that came in the window (ms) and failed, that open `events_failing`. */
export const FAILING = { events: 10, window: HOUR }
/** How long an endpoint must have taken nothing (ms) to be told of. */
export const ENDPOINT_FAILING_AFTER = HOUR
/** How long before it expires an API key is told of (days), if it was used in the last so many days. */
export const EXPIRING_DAYS = [7, 1] as const
export const USED_WITHIN_DAYS = 30
