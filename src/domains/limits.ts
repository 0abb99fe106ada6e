import { DAY, HOUR, MINUTE, SECOND } from '../lib/time'
import { MAX_OWNED_PROJECTS } from '../tenancy/limits'

/** Domains of a project that are not released. */
export const MAX_DOMAINS = 50
/** Characters of a name in A-labels. A DNS name has at most 253, and that of the record has 20 more than the domain's. */
export const MAX_HOSTNAME = 233

/** How long a resolver may take to answer (ms). */
export const RESOLVE_WITHIN = 3 * SECOND
/** Bytes of an answer that are read. A DNS message has no more. */
export const MAX_ANSWER_BYTES = 65_535
/** Aliases (CNAME) that are followed. */
export const MAX_ALIASES = 8

/** Values of a resolver's answer that are stored for people to look at, and characters of each. */
export const MAX_SEEN_VALUES = 8
export const MAX_SEEN_CHARS = 120
/** Bytes of the evidence of a check, as JSON. The table refuses more. */
export const MAX_EVIDENCE_BYTES = 4096

/** How long after it was added, or tried again, a domain is checked (ms); then hourly for a day, then every 4 hours. */
export const FIRST_CHECKS = [MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE]
export const HOURLY_FOR = DAY
export const LATER_EVERY = 4 * HOUR
/** How long a domain may be pending (ms). */
export const PENDING_FOR = 7 * DAY
/** How often a verified domain is checked, and one in grace (ms). */
export const VERIFIED_EVERY = DAY
export const GRACE_EVERY = 6 * HOUR
/** How often a verified surface is looked at that does not serve yet (ms). */
export const SERVING_EVERY = HOUR
/** So many checks in a row without a record, the last this long after the first (ms), begin the grace period. */
export const ABSENT_CHECKS = 3
export const ABSENT_FOR = DAY
/** How long the grace period is (ms). */
export const GRACE_FOR = 7 * DAY
/** A domain is checked by hand at most once in this time (ms). */
export const VERIFY_EVERY = 10 * SECOND

/** Due domains that a run of the cron takes, and how many of one project. */
export const DUE_AT_ONCE = 20
export const DUE_OF_PROJECT = 5
/** The most overdue domains, from which a run chooses: twice as many as one user can have, so that none hides all others. */
export const DUE_CANDIDATES = 2 * MAX_OWNED_PROJECTS * MAX_DOMAINS
/** A domain that a run has taken is due again after this long (ms), should the run die. */
export const CLAIMED_FOR = 10 * MINUTE
/** Domains that a run looks up at once. An invocation has six connections, and each look-up needs two. */
export const LOOKUPS_AT_ONCE = 2
/** The time after which a run begins no more look-ups (ms). What is left is due again after `CLAIMED_FOR`. */
export const RUN_FOR = 60 * SECOND

/** How long a deleted domain stays, for the audit log to name it (ms). It holds no name, so its purge gives nothing to anybody. */
export const RELEASED_KEPT_FOR = 30 * DAY

/** Other projects with a name that one check looks at. */
export const MAX_HOLDERS = 20
/** Members who are told that their project has lost a domain. */
export const MAX_TOLD = 20

/** How long an isolate remembers which project a host belongs to (ms), and of how many hosts. */
export const HOST_KNOWN_FOR = MINUTE
export const MAX_KNOWN_HOSTS = 1000
