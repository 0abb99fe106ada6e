import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { MINUTE } from '../../lib/time'
import { connections } from '../connections/schema'
import type { Status } from '../lifecycle'
import { events, minutes, payloads } from '../schema'
import { FIRST_DUE_MS } from '../upkeep/limits'

/*
 * Every statement that moves an event is in this folder. Lists travel as one JSON parameter (a statement binds at most
 * 100), and the driver of each join is pinned (CROSS JOIN): left alone, SQLite's planner picks scans at a million rows.
 */

/** One event of a delivery, to be recorded. */
export type NewEvent = { id: string; vendor_event_id: string; event_type: string; occurred_at: string | null }
/** What is stored for it: another id than the new one means that it was a duplicate. */
export type RecordedEvent = { id: string; vendor_event_id: string; status: Status; deliveries: number }

/** A delivery as it is recorded. `body`: TEXT when the bytes are UTF-8 without NUL, else the bytes. */
export type NewDelivery = {
  payload_id: string
  body: string | ArrayBuffer
  headers: Record<string, string>
  events: readonly NewEvent[]
  /** When it came in (ms). */
  received_at: number
}

/** What the rows of an event weigh beside its payload, in bytes: the others of a shared trip wait for them. */
const ROWS_OF_EVENT = 4096

/**
 * On what the insert insists: that the connection is as it was when the delivery was verified, or, for one that was
 * verified while the database was out, that the secret which verified it is still live.
 */
export type Fence = { id: string; version: number } | { id: string; secret_id: string }

/**
 * Records a delivery in one round trip, or counts its duplicates. Deliveries that come together share the trip.
 *
 * @returns a row for each event; empty where the fence does not hold, and then nothing is written
 */
export async function recordDelivery(db: Db, fence: Fence, delivery: NewDelivery): Promise<RecordedEvent[]> {
  const { payload_id, body, headers, events: list, received_at: now } = delivery
  const rows = JSON.stringify(
    list.map((event) => [event.id, event.vendor_event_id, event.event_type, event.occurred_at]),
  )
  const holds =
    'version' in fence
      ? sql`c.version = ${fence.version}`
      : sql`EXISTS (SELECT 1 FROM json_each(c.secrets) s WHERE s.value->>'id' = ${fence.secret_id})`
  const live = sql`c.id = ${fence.id} AND c.deleted_at IS NULL AND ${holds}`
  const statements = [
    // First, because it asks what is stored so far.
    sql`INSERT INTO ${minutes} (project_id, minute, connection_id, received, duplicates)
      SELECT c.project_id, ${Math.floor(now / MINUTE)}, c.id, sum(e.id IS NULL), coalesce(sum(e.id <> j.value->>0), 0)
      FROM ${connections} c CROSS JOIN json_each(${rows}) j
        LEFT JOIN ${events} e ON e.connection_id = c.id AND e.vendor_event_id = j.value->>1
      WHERE ${live} GROUP BY c.id
      ON CONFLICT DO UPDATE SET received = received + excluded.received, duplicates = duplicates + excluded.duplicates`,
    sql<RecordedEvent>`INSERT INTO ${events} (project_id, id, connection_id, vendor_event_id, event_type, occurred_at,
        payload_id, status, due_at, last_delivered_at)
      SELECT c.project_id, j.value->>0, c.id, j.value->>1, j.value->>2, j.value->>3, ${payload_id}, 'received',
        ${now + FIRST_DUE_MS}, ${now}
      FROM ${connections} c CROSS JOIN json_each(${rows}) j WHERE ${live}
      ON CONFLICT DO UPDATE SET deliveries = deliveries + (events.id <> excluded.id), last_delivered_at = excluded.last_delivered_at
      RETURNING id, vendor_event_id, status, deliveries`,
    sql`INSERT INTO ${payloads} (project_id, id, body, headers)
      SELECT c.project_id, ${payload_id}, ${body}, ${JSON.stringify(headers)} FROM ${connections} c
      WHERE c.id = ${fence.id} AND EXISTS (SELECT 1 FROM json_each(${rows}) j
        CROSS JOIN ${events} e ON e.project_id = c.project_id AND e.id = j.value->>0 AND e.payload_id = ${payload_id})
      ON CONFLICT DO NOTHING`,
  ] as const
  // What was spooled comes to the consumer one after the other: it has nobody to share with, and a batch to get done.
  if (!('version' in fence)) return (await old(db).batch(statements))[1].rows
  const _bytes = (typeof body === 'string' ? body.length : body.byteLength) + ROWS_OF_EVENT * list.length
  const [, recorded] = await old(db).batch(statements)
  return recorded.rows
}
