import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { FINAL_STATUSES, STATUSES } from './lifecycle'
import type { DecodedSummary } from './process/decide'

const list = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(','))

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
    /** The decoded view; null until the event is processed. */
    summary: text({ mode: 'json' }).$type<DecodedSummary>(),
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
    /** The few headers that carry meaning; never a secret. */
    headers: text({ mode: 'json' }).$type<Record<string, string>>(),
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
    /** The search's filters, for a replay by filter. */
    filter: text({ mode: 'json' }).$type<Record<string, unknown>>(),
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
    /** Refused deliveries by cause. */
    refused: text({ mode: 'json' }).$type<Record<string, number>>().notNull().default({}),
    processed: integer().notNull().default(0),
    ignored: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    lag: text({ mode: 'json' }).$type<Record<string, number>>().notNull().default({}),
    /** Milliseconds. */
    lag_sum: integer().notNull().default(0),
    lag_max: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.project_id, t.minute, t.connection_id] })],
)

/** Final events by status: the counts of health without a scan. */
export const totals = sqliteTable(
  'totals',
  { project_id: text().notNull(), status: text({ enum: STATUSES }).notNull(), n: integer().notNull().default(0) },
  (t) => [primaryKey({ columns: [t.project_id, t.status] })],
)
