import { and, eq, isNull, not, sql } from 'drizzle-orm'
import { batch, type Db, raw } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { bare } from '../../db/sql'
import { addUp } from '../../db/upsert'
import { MINUTE } from '../../lib/time'
import { isDeleted } from '../../tenancy/ended'
import { connections } from '../connections/schema'
import { FIRST_DUE_MS } from '../limits'
import { events, minutes } from '../schema'
import { bodyStatements } from './body-store'
import type { Fence, NewDelivery, Recording } from './recording'

/** An event as stored. If its id is not the new event's, the event is a duplicate. */
export type RecordedEvent = ReturnType<typeof statements>['recorded']['_']['result'][number]

/**
 * Records a delivery in one round trip, or counts its duplicates. Recording it again with the same ids changes nothing.
 *
 * @returns a row for each event; no rows if the fence does not hold, and then nothing is written
 */
export async function recordDelivery(db: Db, fence: Fence, delivery: NewDelivery): Promise<RecordedEvent[]> {
  return (await batch(db, statements(db, { fence, delivery }), { idempotent: true })).recorded
}

/**
 * Records several deliveries in one round trip and one transaction. If D1's answer is lost, they are recorded again: then
 * a repeat may count twice, but an event is stored once.
 *
 * @returns what `recordDelivery` returns, for each
 */
export async function recordDeliveries(db: Db, recordings: readonly Recording[]): Promise<RecordedEvent[][]> {
  const named = recordings.flatMap((recording, i) =>
    Object.entries(statements(db, recording)).map(([name, query]) => [`${name}_${i}`, query] as const),
  )
  const results = await batch(db, Object.fromEntries(named), { idempotent: true })
  return recordings.map((_, i) => results[`recorded_${i}`] ?? [])
}

/**
 * The statements that record a delivery. `minute` comes first, because it asks which events are stored already.
 *
 * Events travel as one JSON parameter, because a statement binds at most 100. CROSS JOIN pins the order of each join:
 * left alone, SQLite's planner picks scans at a million rows.
 */
function statements(db: Db, recording: Recording) {
  const { fence, delivery } = recording
  const { payload_id, received_at: now } = delivery
  const list = sql`json_each(${JSON.stringify(delivery.events)})`
  const exists = and(isNull(connections.deleted_at), not(isDeleted(connections.project_id)))
  const live = and(eq(connections.id, fence.id), exists, holds(fence))
  const { id, vendor_event_id, status, deliveries, last_delivered_at, differing, last_differing_at } = events
  // False if either digest is null: nothing is known then.
  const differs = sql`((${id} <> excluded.${bare(id)} AND ${events.content_digest} <> excluded.${bare(events.content_digest)}) IS TRUE)`
  return {
    minute: insertFrom(
      db,
      minutes,
      {
        project_id: connections.project_id,
        minute: sql`${Math.floor(now / MINUTE)}`,
        connection_id: connections.id,
        received: sql`sum(${id} IS NULL)`,
        duplicates: sql`coalesce(sum(${id} <> j.value->>'id'), 0)`,
      },
      sql`FROM ${connections} CROSS JOIN ${list} j
        LEFT JOIN ${events} ON ${events.connection_id} = ${connections.id} AND ${vendor_event_id} = j.value->>'vendor_event_id'
        WHERE ${live} GROUP BY ${connections.id}
        ON CONFLICT DO UPDATE SET ${addUp(minutes.received, minutes.duplicates)}`,
    ),
    recorded: raw(
      db,
      { id, vendor_event_id, status, deliveries },
      (fields) => sql`INSERT INTO ${events} (${bare(
        events.project_id,
        id,
        events.connection_id,
        vendor_event_id,
        events.event_type,
        events.occurred_at,
        events.payload_id,
        status,
        events.due_at,
        last_delivered_at,
        events.content_digest,
      )})
        SELECT ${connections.project_id}, j.value->>'id', ${connections.id}, j.value->>'vendor_event_id',
          j.value->>'event_type', j.value->>'occurred_at', ${payload_id}, 'received', ${now + FIRST_DUE_MS}, ${now},
          j.value->>'content_digest'
        FROM ${connections} CROSS JOIN ${list} j WHERE ${live}
        ON CONFLICT DO UPDATE SET ${bare(deliveries)} = ${deliveries} + (${id} <> excluded.${bare(id)}),
          ${bare(last_delivered_at)} = excluded.${bare(last_delivered_at)},
          ${bare(differing)} = ${differing} + ${differs},
          ${bare(last_differing_at)} = CASE WHEN ${differs} THEN ${now} ELSE ${last_differing_at} END
        RETURNING ${fields}`,
    ),
    ...bodyStatements(db, recording),
  }
}

function holds(fence: Fence) {
  if ('version' in fence) return eq(connections.version, fence.version)
  return sql`EXISTS (SELECT 1 FROM json_each(${connections.secrets}) s WHERE s.value->>'id' = ${fence.secret_id})`
}
