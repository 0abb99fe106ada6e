import { type Column, type SQL, sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHUNK_OBJECTS, CHUNK_ROWS } from '../db/limits'
import { type Parts, partOf } from '../db/parts'
import { bare } from '../db/sql'
import { EVENT_ERROR_CODES } from '../vendors/event-errors'
import { backfills } from './backfill/schema'
import { connections } from './connections/schema'
import { diagnoses, removedSecrets } from './diagnoses/schema'
import { vendorDoubts } from './doubts/schema'
import { formatFindings, formats } from './formats/schema'
import { vendorPrices, vendorRuns } from './imports/schema'
import { FINAL_STATUSES, STATUSES } from './lifecycle'
import { CHUNK_PAYLOADS } from './limits'
import { causeMutes } from './mutes/schema'
import { vendorAsks } from './refresh/schema'
import { connectionHours } from './silence/schema'
import { vendorKeys } from './vendor-api/schema'
import { vendorEndpoints } from './vendor-endpoints/schema'

const list = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(','))

/** One row per vendor event, small and often written; payloads have their own table, `bodies`. The id holds the time of receipt. */
export const events = sqliteTable(
  'events',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    connection_id: text().notNull(),
    /** The vendor's id of the event, or the SHA-256 of the payload if the vendor sends none. */
    vendor_event_id: text().notNull(),
    event_type: text().notNull(),
    /** The vendor's time of the event: ISO 8601 UTC, in the vendor's precision. */
    occurred_at: text(),
    /** Several events of one delivery share its payload: the key of `packed_bodies` as text, or an id of an older table. */
    payload_id: text().notNull(),
    status: text({ enum: STATUSES }).notNull(),
    /** When the sweep looks at the event next (ms); null exactly when the status is final. Of a held event, no time: see held.ts. */
    due_at: integer(),
    /** When a retry may be claimed (ms). Apart from `due_at`, which the sweep moves. */
    next_attempt_at: integer(),
    /** Keeps out a worker whose lease has expired. Not indexed, so that a claim writes one row. */
    lease_token: text(),
    lease_until: integer(),
    attempts: integer().notNull().default(0),
    /** Attempts since the receipt or the last replay: the retry budget counts these. */
    tries: integer().notNull().default(0),
    deliveries: integer().notNull().default(1),
    last_delivered_at: integer().notNull(),
    /**
     * Of its content, without the fields that vary between deliveries; null if it is not compared. See
     * receive/digest.ts.
     */
    content_digest: text(),
    /** How many later deliveries had other content than the first one, which is kept. */
    differing: integer().notNull().default(0),
    last_differing_at: integer(),
    processed_at: integer(),
    last_error: text(),
    /** Null also for an error from before codes were recorded. */
    last_error_code: text({ enum: EVENT_ERROR_CODES }),
    replay_id: text(),
    /** The decoded view, as JSON; null until the event has been processed. See summary.ts, which reads and writes it whole. */
    summary: text(),
    /** When the first attempt began (ms), if it has no row of its own in `attempts`: see attempts.ts. */
    started_at: integer(),
    /** When it was last released (ms), if it was held: its lag counts from then. A replay begins anew. */
    released_at: integer(),
    /** What is packed of the summary, a BLOB; null if nothing is. */
    summary_rest: text().$type<ArrayBuffer>(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    uniqueIndex('events_dedupe').on(t.connection_id, t.vendor_event_id),
    index('events_type').on(t.project_id, t.event_type, t.id),
    index('events_connection').on(t.connection_id, t.id),
    index('events_open').on(t.project_id, t.due_at).where(sql`due_at IS NOT NULL`),
    // For searches by the other final statuses. Open events are few, and have events_open.
    // Almost all events are processed: a search for those walks the primary key.
    index('events_ended').on(t.project_id, t.status, t.id).where(sql`due_at IS NULL AND status <> 'processed'`),
    index('events_trouble').on(t.project_id, t.id).where(sql`attempts > 1 OR last_error IS NOT NULL`),
    check('events_status', sql`${t.status} IN (${list(STATUSES)})`),
    check('events_due', sql`(${t.due_at} IS NULL) = (${t.status} IN (${list(FINAL_STATUSES)}))`),
  ],
)

// A column of TEXT keeps a BLOB as it is. TEXT is preferred because a BLOB crosses the binding as a JSON array of
// numbers: 28 times slower at 1 MiB.
const body = () => text().$type<string | ArrayBuffer>().notNull()
/** The few headers that decoding needs; never a secret. */
const headers = () => text({ mode: 'json' }).$type<Record<string, string>>()

/**
 * A delivery's body, as packing.ts makes it. The key, which is the rowid, is made there too. Events have it as `payload_id`. This
 * table has no other index: the rows of a project are found only through its events. The body is the last column, so that the others are
 * read without it.
 */
export const packedBodies = sqliteTable('packed_bodies', {
  key: integer().primaryKey(),
  project_id: text().notNull(),
  headers: headers(),
  /** How the body is stored; null if it is stored as it came: TEXT if it is UTF-8 without NUL, else BLOB. */
  encoding: text({ enum: ['deflate'] }),
  /** How many bytes the vendor sent. */
  bytes: integer().notNull(),
  body: body(),
})

/** The columns of {@link packedBodies}, as INSERT lists them. */
export const PACKED_COLUMNS = bare(
  packedBodies.key,
  packedBodies.project_id,
  packedBodies.headers,
  packedBodies.encoding,
  packedBodies.bytes,
  packedBodies.body,
)

/**
 * A delivery's body that was recorded before `packed_bodies` existed: TEXT if it is UTF-8 without NUL, else BLOB. Housekeeping
 * packs them: pack-bodies.ts. Tables of bodies have a rowid: the key of a WITHOUT ROWID table is the whole row, and SQLite reads
 * all of it at each comparison on the way to another row.
 */
export const bodies = sqliteTable(
  'bodies',
  { project_id: text().notNull(), id: text().notNull(), headers: headers(), body: body() },
  (t) => [uniqueIndex('bodies_key').on(t.project_id, t.id)],
)

/** Payloads that were recorded before `bodies` existed. Housekeeping moves them: move-payloads.ts. */
export const payloads = sqliteTable(
  'payloads',
  { project_id: text().notNull(), id: text().notNull(), body: body(), headers: headers() },
  (t) => [primaryKey({ columns: [t.project_id, t.id] })],
)

/** Ids of the vendor objects that an event is about or refers to directly, for searches by `ref`. */
export const refs = sqliteTable(
  'refs',
  { project_id: text().notNull(), ref: text().notNull(), event_id: text().notNull() },
  (t) => [primaryKey({ columns: [t.project_id, t.ref, t.event_id] })],
)

/** Attempts at processing an event, except those that follow from the event: attempts.ts reads both. */
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

/** Replays: of one event, or of all events that matched a filter. */
export const replays = sqliteTable(
  'replays',
  {
    project_id: text().notNull(),
    id: text().notNull(),
    /** The id of the user or API key that requested it. */
    actor: text().notNull(),
    event_id: text(),
    /** The search filters of a bulk replay. */
    filter: text({ mode: 'json' }).$type<Record<string, unknown>>(),
    /** How many events it reopened. */
    queued: integer().notNull(),
    /** How many of them have ended, by status. Null for replays from before this was counted. */
    processed: integer(),
    ignored: integer(),
    failed: integer(),
    /**
     * Of a bulk replay: how many events the project's bulk replays had reopened on its day (UTC), with its own. So the
     * newest row alone tells what the day has left. Null for other replays, and for those from before this was counted.
     */
    day_events: integer(),
    /** Of a bulk replay: how many events matched, and where the next one continues. Null as above; also `next_cursor` if none matched after these. */
    matched: integer(),
    next_cursor: text(),
  },
  (t) => [
    primaryKey({ columns: [t.project_id, t.id] }),
    index('replays_bulk').on(t.project_id, t.id).where(sql`event_id IS NULL`),
  ],
)

/**
 * Rollups: one row per connection and minute of receipt. `lag` is a histogram, bin → count (see histogram.ts). An event is added when
 * it first becomes final, so rollups.ts reads open events with them.
 */
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

/** How many events have each final status, so that health needs no scan. */
export const totals = sqliteTable(
  'totals',
  { project_id: text().notNull(), status: text({ enum: STATUSES }).notNull(), n: integer().notNull().default(0) },
  (t) => [primaryKey({ columns: [t.project_id, t.status] })],
)

/** The key of a packed body, by what its events say; 0, which no body has, for an id of an older table. */
export function packedKeyOf(payloadId: Column | SQL | SQL.Aliased): SQL<number> {
  return sql`CAST(${payloadId} AS INTEGER)`
}

/** What a purged project leaves here. The attempts and the payload of an event go with the event. */
export const INBOX_PARTS: Parts = {
  bodies: partOf(bodies, [bodies.project_id, bodies.id], CHUNK_PAYLOADS),
  payloads: partOf(payloads, [payloads.project_id, payloads.id], CHUNK_PAYLOADS),
  refs: partOf(refs, [refs.project_id, refs.ref, refs.event_id], CHUNK_ROWS),
  events: {
    // As many as one step may delete with their payloads.
    ...partOf(events, [events.project_id, events.id], CHUNK_PAYLOADS),
    owned: (db, some) => ({
      attempts: db.delete(attempts).where(sql`${attempts.event_id} IN ${some(sql`${events.id}`)}`),
      packed: db.delete(packedBodies).where(sql`${packedBodies.key} IN ${some(packedKeyOf(events.payload_id))}`),
    }),
  },
  replays: partOf(replays, [replays.project_id, replays.id], CHUNK_ROWS),
  minutes: partOf(minutes, [minutes.project_id, minutes.minute, minutes.connection_id], CHUNK_ROWS),
  totals: partOf(totals, [totals.project_id, totals.status], CHUNK_ROWS),
  diagnoses: partOf(diagnoses, [diagnoses.project_id, diagnoses.connection_id, diagnoses.at], CHUNK_ROWS),
  removed_secrets: partOf(
    removedSecrets,
    [removedSecrets.project_id, removedSecrets.connection_id, removedSecrets.id],
    CHUNK_ROWS,
  ),
  cause_mutes: partOf(
    causeMutes,
    [causeMutes.project_id, causeMutes.connection_id, causeMutes.kind, causeMutes.code],
    CHUNK_ROWS,
  ),
  formats: partOf(
    formats,
    [formats.project_id, formats.connection_id, formats.api_version, formats.kind, formats.week],
    CHUNK_ROWS,
  ),
  format_findings: partOf(formatFindings, [formatFindings.project_id, formatFindings.connection_id], CHUNK_ROWS),
  vendor_keys: partOf(vendorKeys, [vendorKeys.project_id, vendorKeys.connection_id], CHUNK_ROWS),
  vendor_endpoints: partOf(vendorEndpoints, [vendorEndpoints.project_id, vendorEndpoints.connection_id], CHUNK_ROWS),
  vendor_asks: partOf(
    vendorAsks,
    [vendorAsks.project_id, vendorAsks.vendor, vendorAsks.kind, vendorAsks.object_id],
    CHUNK_ROWS,
  ),
  vendor_doubts: partOf(
    vendorDoubts,
    [vendorDoubts.project_id, vendorDoubts.vendor, vendorDoubts.kind, vendorDoubts.object_id],
    CHUNK_ROWS,
  ),
  connection_hours: partOf(connectionHours, [connectionHours.project_id, connectionHours.connection_id], CHUNK_ROWS),
  backfills: partOf(backfills, [backfills.project_id, backfills.connection_id], CHUNK_ROWS),
  vendor_runs: partOf(vendorRuns, [vendorRuns.project_id, vendorRuns.id], CHUNK_ROWS),
  vendor_prices: partOf(vendorPrices, [vendorPrices.project_id, vendorPrices.vendor, vendorPrices.ref], CHUNK_ROWS),
  connections: partOf(connections, [connections.project_id, connections.id], CHUNK_OBJECTS),
}
