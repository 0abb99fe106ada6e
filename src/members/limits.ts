import { DAY, MINUTE } from '../lib/time'

/** Characters of an address that is invited. */
export const MAX_EMAIL = 254
/** For how long an invitation can be open (days), and for how long it is by default. */
export const MIN_OPEN_DAYS = 1
export const MAX_OPEN_DAYS = 30
export const OPEN_DAYS = 7
/** Invitations of a project that are pending and have not expired. The INSERT enforces the limit. */
export const MAX_PENDING = 100
/** Emails with invitations, counted over this time (ms), … */
export const MAILS_WITHIN = DAY
/** … to one mailbox from one project, together with those that its sender sent there from other projects, … */
export const MAILS_TO_ADDRESS = 5
/** … and from one project. */
export const MAILS_FROM_PROJECT = 50
/** Time between two emails of one invitation (ms). An email that could not be sent does not count. */
export const MAIL_EVERY = MINUTE
/** Characters of the reason why an email was not sent. */
export const MAX_SEND_ERROR = 200

/** Identities of a new owner that the audit log names. All of them are removed. */
export const MAX_UNLINKED_NAMED = 100

/** Projects that one call leaves when a user is erased. Each takes up to eight statements, with `revoke_keys`, and an invocation has 1,000. */
export const MAX_LEFT_AT_ONCE = 100

/** Identities of single sign-on that one step remembers when a user is erased. */
export const IDENTITIES_AT_ONCE = 500
