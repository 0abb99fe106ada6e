import { MINUTE, SECOND } from '../lib/time'

/** How long an address with too many failures is refused (ms). */
export const BLOCK_MS = 10 * SECOND
/** Blocked addresses that an isolate remembers, for each kind of failure. */
export const MAX_BLOCKED = 10_000
/** What an answer can do without is waited for no longer than this (ms). */
export const BESIDE_WITHIN_MS = 2 * SECOND
/** Credentials that an isolate remembers as good. */
export const MAX_KNOWN_CREDENTIALS = 10_000
/** How often an isolate looks up a key again that is over its remembered limit (ms): somebody may have raised it. */
export const OWN_LIMIT_READ_EVERY = 5 * SECOND
/** Credentials whose networks an isolate remembers. Those of one take up to 1 KB. */
export const MAX_KNOWN_NETWORKS = 2_000

/** A session counts as confirmed for this long after its user proved who they are (ms). */
export const CONFIRMED_FOR = 10 * MINUTE

/** How long the body of a request may take to arrive (ms). */
export const BODY_DEADLINE = 30 * SECOND
/** Bytes of bodies that an isolate holds while they are still arriving. A Worker has 128 MB of memory for everything. */
export const MAX_ARRIVING_BYTES = 32 * 1024 * 1024

/**
 * Bytes of payloads that are being answered in an isolate at once, as the vendors sent them. The answer of D1, the rows of it,
 * base64 and JSON take several times as much while an answer is made: see bench/README.md.
 */
export const MAX_ANSWERING_BYTES = 4 * 1024 * 1024
/** How much of that one project may have. */
export const MAX_PROJECT_ANSWERING_BYTES = MAX_ANSWERING_BYTES / 2
/** Bytes of payloads that are read without knowing how many there are. More are measured first. */
export const MAX_SMALL_BYTES = 256 * 1024
/** How long a request waits for room to read payloads (ms). */
export const ANSWER_WAIT_MS = 5 * SECOND
/** An answer that is not sent after this long (ms) makes room for others when they need it. */
export const SLOW_ANSWER_MS = 3 * SECOND
/** How long an answer with payloads may take to be made (ms). */
export const MAKING_DEADLINE = 15 * SECOND
/** How long it may take to be sent (ms). */
export const ANSWER_DEADLINE = 60 * SECOND
/** Bytes of such an answer that are sent at a time. */
export const ANSWER_CHUNK = 64 * 1024

/**
 * The limits of wrangler.toml, by the name that callers see: requests in a window (seconds). The bindings do not tell
 * them, so they are stated twice, and a test compares them.
 */
export const RATE_LIMITS = {
  credential: { requests: 3000, window: 60 },
  auth_failure: { requests: 20, window: 60 },
  sign_in: { requests: 10, window: 60 },
  ingest: { requests: 1200, window: 60 },
  unknown_connection: { requests: 120, window: 60 },
  public: { requests: 300, window: 60 },
  // Of a project, however many keys it has: as much as two keys may read, and two may write. A costly call takes some 50
  // times as long as another one, so one a second weighs as much as half of all others that a project may make.
  project_reads: { requests: 6000, window: 60 },
  project_writes: { requests: 1200, window: 60 },
  project_costly: { requests: 60, window: 60 },
  // Of one API key or person: half of what the project has, just as one key may make half of its reads. So one that is in the
  // wrong hands, or runs wild, leaves something for the others.
  caller_writes: { requests: 600, window: 60 },
  caller_costly: { requests: 30, window: 60 },
  // Of all keys that one user minted: as much as five projects have, however many the user owns.
  user_costly: { requests: 300, window: 60 },
  // Of a project: each is up to three calls of the vendor's, which allows an account some 25 to 100 a second for everything.
  refresh: { requests: 60, window: 60 },
  // Of a vendor's host, which allows an address 240 in all: twice so many, for what somebody waits for and for the rest. What is left is
  // for the limiter, which counts by location.
  vendor: { requests: 100, window: 60 },
  // Of a project: each is a request to a server of its choice.
  webhook_tests: { requests: 6, window: 60 },
  // Of an address: each report can read every store. A report of GitHub's has hundreds of tokens, so it needs few.
  exposures: { requests: 30, window: 60 },
} as const
/** A call that reads more rows than this counts as a costly one, whatever its route, and once more for each time as many. */
export const COSTLY_ROWS = 5_000
/** How many rows that are read weigh as much as one that a PUT writes. */
export const ROW_WRITTEN = 20
/** How often one call can count as a costly one. */
export const MAX_COSTLY_UNITS = 10
/** For how long (ms) calls of a route take turns in a project, after one of them has read so many rows. */
export const HEAVY_FOR_MS = MINUTE
/** How long a costly call, or a change of a consumer, waits for the one before it (ms), and how often it looks (ms). */
export const TURN_WAIT_MS = 5 * SECOND
export const TURN_POLL_MS = 20
/** Turns that an isolate remembers: more than it has requests at once. */
export const MAX_TURNS = 10_000
/** An isolate refuses a project over its limit for this long (ms) without asking the limiter or a database again. */
export const PROJECT_PAUSE_MS = SECOND
/** Projects over their limits that an isolate remembers. */
export const MAX_PAUSED = 10_000
/**
 * What may be changed of one project in the directory on one day (UTC), because all projects share it: entries of the audit log
 * about the project itself, members, invitations, domains and single sign-on connections, and their bytes. A person at work
 * makes a few hundred changes a day. What ends an access, or lets somebody in again, is counted and never refused; what the
 * system does by itself is not counted. A trigger states the numbers too, and a test compares them.
 */
export const DAILY_ENTRIES = 1000
export const DAILY_BYTES = 512 * 1024
/** What API keys can have of these. The rest is for people, so that no key can stop an owner from locking it out. */
export const DAILY_KEY_ENTRIES = 700
export const DAILY_KEY_BYTES = 350 * 1024
/** The words of that trigger when it refuses. */
export const DAILY_LIMIT = 'daily_limit_reached'
/** How long a caller over a limit is told to wait (seconds). The bindings do not say when the limit has room again. */
export const RETRY_AFTER = 10

/** How long anybody may keep the OpenAPI document (seconds). It changes only with a deployment. */
export const OPENAPI_MAX_AGE_S = 300
/**
 * Descriptions that an isolate keeps as bytes: OpenAPI documents, each of 1.6 MB, in two versions, and a JSON Schema. A deployment
 * has one address, a developer's machine several.
 */
export const MAX_DESCRIPTIONS = 4

/** Characters of the headers `If-Match` and `If-None-Match` that are looked at: room for many entity tags. */
export const MAX_IF_MATCH = 1_000
