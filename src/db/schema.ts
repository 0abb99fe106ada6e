import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { FINAL_STATUSES, STATUSES } from '../lib/statuses'

/*
 * Property names are the column names, so a row has one shape whether the builder or raw SQL asked for it.
 * Times are integers: milliseconds since the epoch, UTC.
 *
 * Every table is WITHOUT ROWID: a rowid table pays one more row written for each unique key. drizzle-kit cannot emit
 * that: `npm run db:generate` adds it afterwards, and test/db/schema.test.ts asks sqlite_master that none was missed.
 * No foreign keys with cascades: drizzle-kit's table rebuild would fire them and lose the children.
 */

const list = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(','))

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    /** Lower case, as it is compared. */
    email: text().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [uniqueIndex('users_email').on(t.email)],
)

export const projects = sqliteTable('projects', {
  id: text().primaryKey(),
  name: text().notNull(),
  created_by: text().notNull(),
  created_at: integer().notNull(),
})

export const members = sqliteTable(
  'members',
  {
    project_id: text().notNull(),
    user_id: text().notNull(),
    role: text({ enum: ['owner', 'admin', 'developer', 'viewer'] }).notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.user_id] }),
    index('members_user').on(t.user_id, t.project_id),
    check('members_role', sql`${t.role} IN ('owner','admin','developer','viewer')`),
  ],
)

export const signInCodes = sqliteTable(
  'sign_in_codes',
  {
    /** The challenge: public, and of no use without its code. */
    id: text().primaryKey(),
    email: text().notNull(),
    /** HMAC-SHA256 of challenge and code under the server's pepper, hex. */
    code_hash: text().notNull(),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
    tries: integer().notNull().default(0),
    /** The session this code opened; null while it is unspent. */
    used_by: text(),
  },
  (t) => [index('sign_in_codes_email').on(t.email, t.created_at)],
)

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    user_id: text().notNull(),
    /** SHA-256 of the whole token, hex. */
    hash: text().notNull(),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
    last_used_at: integer().notNull(),
    user_agent: text(),
  },
  (t) => [uniqueIndex('sessions_hash').on(t.hash), index('sessions_user').on(t.user_id, t.id)],
)

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    project_id: text().notNull(),
    name: text().notNull(),
    /** `svc_v1_` + first four of the body + `…` + last four. */
    key_prefix: text().notNull(),
    /** SHA-256 of the whole live secret, hex. */
    hash: text().notNull(),
    /** JSON array of scopes. */
    scopes: text().notNull(),
    expires_at: integer(),
    created_by: text().notNull(),
    created_at: integer().notNull(),
    last_used_at: integer(),
    revoked_at: integer(),
  },
  (t) => [
    uniqueIndex('api_keys_hash').on(t.hash),
    index('api_keys_live').on(t.project_id, t.id).where(sql`revoked_at IS NULL`),
  ],
)

/** Hashes that a key's rotations retired: a holder of the exact old secret is told `key_rotated`. */
export const retiredSecrets = sqliteTable('retired_secrets', {
  hash: text().primaryKey(),
  key_id: text().notNull(),
  retired_at: integer().notNull(),
})

/** Who did what to which object. The id's time is when. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    actor_type: text({ enum: ['user', 'api_key', 'system'] }).notNull(),
    actor_id: text().notNull(),
    action: text().notNull(),
    object_type: text().notNull(),
    object_id: text().notNull(),
    request_id: text().notNull(),
    /** JSON object of what changed; never a secret. */
    details: text(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.id] })],
)

/** Where a billing vendor's events come in. `version` moves with everything ingest depends on. */
export const connections = sqliteTable(
  'connections',
  {
    id: text().primaryKey(),
    project_id: text().notNull(),
    vendor: text().notNull(),
    name: text().notNull(),
    livemode: integer().notNull().default(1),
    status: text({ enum: ['active', 'disabled'] })
      .notNull()
      .default('active'),
    version: integer().notNull().default(1),
    /** JSON array of { id, hint, created_at, key, box }: the secret encrypted under ENCRYPTION_KEY_<key>. */
    secrets: text().notNull(),
    /** JSON object: secret id → when it last verified a delivery (ms), written at most once a minute a secret. */
    secrets_used: text().notNull().default('{}'),
    created_at: integer().notNull(),
    deleted_at: integer(),
  },
  (t) => [index('connections_project').on(t.project_id, t.id)],
)

/** One row a vendor event. Small and hot; the payload lies apart. The id's time is the time of receipt. */
export const events = sqliteTable(
  'events',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    connection_id: text().notNull(),
    /** The vendor's id of the event, or the SHA-256 of the bytes where the vendor has none. */
    vendor_event_id: text().notNull(),
    event_type: text().notNull(),
    /** The vendor's time of the event in ISO 8601 UTC, in the vendor's own precision. */
    occurred_at: text(),
    /** One delivery may carry several events: its bytes are kept once. */
    payload_id: text().notNull(),
    status: text({ enum: STATUSES }).notNull(),
    /** When the sweep looks next; null exactly when the status is final. */
    due_at: integer(),
    /** When a retry may be claimed: the sweep moves `due_at`, and must not move this. */
    next_attempt_at: integer(),
    /** Fences a worker whose lease ran out. Not indexed: a claim writes one row. */
    lease_token: text(),
    lease_until: integer(),
    attempts: integer().notNull().default(0),
    /** Attempts since the last trigger: what the retry budget counts. A replay starts it anew. */
    tries: integer().notNull().default(0),
    deliveries: integer().notNull().default(1),
    last_delivered_at: integer().notNull(),
    processed_at: integer(),
    last_error: text(),
    replay_id: text(),
    /** JSON: the decoded summary. */
    summary: text(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    uniqueIndex('events_dedupe').on(t.connection_id, t.vendor_event_id),
    index('events_type').on(t.project_id, t.event_type, t.id),
    index('events_connection').on(t.connection_id, t.id),
    index('events_open').on(t.project_id, t.due_at).where(sql`due_at IS NOT NULL`),
    // What the search for a final status goes by; open events are few, and have events_open.
    index('events_final').on(t.project_id, t.status, t.id).where(sql`due_at IS NULL`),
    index('events_trouble').on(t.project_id, t.id).where(sql`attempts > 1 OR last_error IS NOT NULL`),
    check('events_status', sql`${t.status} IN (${list(STATUSES)})`),
    check('events_due', sql`(${t.due_at} IS NULL) = (${t.status} IN (${list(FINAL_STATUSES)}))`),
  ],
)

/** A delivery's bytes, verbatim: TEXT when they are UTF-8 without NUL, else BLOB. */
export const payloads = sqliteTable(
  'payloads',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    // TEXT affinity leaves a BLOB as it is. TEXT where it can be: a BLOB crosses the binding as a JSON array of
    // numbers, 28 times slower at 1 MiB.
    body: text().$type<string | ArrayBuffer>().notNull(),
    /** JSON object of the few headers that carry meaning; never a secret. */
    headers: text(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.id] })],
)

/** Vendor object ids an event is of or refers to directly: what the `ref` search asks. */
export const refs = sqliteTable(
  'refs',
  { project_id: text().notNull(), ref: text().notNull(), event_id: text().notNull() },
  (t) => [primaryKey({ columns: [t.project_id, t.ref, t.event_id] })],
)

/** Every try at processing an event. */
export const attempts = sqliteTable(
  'attempts',
  {
    event_id: text().notNull(),
    number: integer().notNull(),
    trigger: text({ enum: ['ingest', 'retry', 'sweep', 'replay'] }).notNull(),
    actor: text(),
    started_at: integer().notNull(),
    finished_at: integer().notNull(),
    outcome: text().notNull(),
    error: text(),
  },
  (t) => [primaryKey({ columns: [t.event_id, t.number] })],
)

/** Who asked for a replay, of one event or of all that a filter matched. */
export const replays = sqliteTable(
  'replays',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    /** The actor's id: a user's or a key's. */
    actor: text().notNull(),
    event_id: text(),
    /** JSON: the search's filters, for a replay by filter. */
    filter: text(),
    /** How many events it opened again. */
    queued: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.id] })],
)

/** Rollup, one row a connection and minute of receipt. `lag` is a JSON histogram: bin → count. */
export const minutes = sqliteTable(
  'minutes',
  {
    project_id: text().notNull(),
    /** Minutes since the epoch. */
    minute: integer().notNull(),
    connection_id: text().notNull(),
    received: integer().notNull().default(0),
    duplicates: integer().notNull().default(0),
    /** JSON object: cause → refused deliveries. */
    refused: text().notNull().default('{}'),
    processed: integer().notNull().default(0),
    ignored: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    lag: text().notNull().default('{}'),
    /** Milliseconds. */
    lag_sum: integer().notNull().default(0),
    lag_max: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.minute, t.connection_id] })],
)

/** What the deployment remembers of itself: when the sweep last ran, which key seals every secret. */
export const state = sqliteTable('state', { name: text().primaryKey(), value: integer().notNull() })

/** Final events by status: the counts of health without a scan. */
export const totals = sqliteTable(
  'totals',
  { project_id: text().notNull(), status: text({ enum: STATUSES }).notNull(), n: integer().notNull().default(0) },
  (t) => [primaryKey({ columns: [t.project_id, t.status] })],
)
