import { and, eq, isNull, not, type SQL, sql } from 'drizzle-orm'
import { batch, type Db, type Query, raw, rawWrite } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { bare, valuesOf } from '../../db/sql'
import { addUp } from '../../db/upsert'
import { utf8 } from '../../lib/crypto'
import { MINUTE } from '../../lib/time'
import { state } from '../../stores/schema'
import { isDeleted } from '../../tenancy/project'
import { connections } from '../connections/schema'
import { FIRST_DUE_MS } from '../limits'
import { bodies, events, minutes, payloads } from '../schema'
import { MAX_BODY_PART } from './limits'
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

/**
 * The statements that record a delivery's payload, by name. They come after its events, and write only if one of the
 * events has this payload. A body that is larger than {@link MAX_BODY_PART} is appended part by part.
 */
export function bodyStatements(db: Db, { fence, delivery }: Recording): Record<string, Query> {
  const { payload_id, headers, received_at: now } = delivery
  const [first, ...rest] = partsOf(delivery.body)
  const projectId = sql`(SELECT ${connections.project_id} FROM ${connections} WHERE ${connections.id} = ${fence.id})`
  const isThis = and(eq(bodies.project_id, projectId), eq(bodies.id, payload_id))
  const body = rawWrite(
    db,
    sql`INSERT INTO ${bodies} (${bare(bodies.project_id, bodies.id, bodies.headers, bodies.body)})
      SELECT ${connections.project_id}, ${payload_id}, ${sql.param(headers, bodies.headers)}, ${first.value}
      FROM ${connections} WHERE ${connections.id} = ${fence.id} AND EXISTS (
        SELECT 1 FROM ${valuesOf(delivery.events.map(({ id }) => id))} j
        CROSS JOIN ${events} ON ${events.project_id} = ${connections.project_id} AND ${events.id} = j.value
          AND ${events.payload_id} = ${payload_id})
      ON CONFLICT DO NOTHING`,
  )
  // A repeat finds the whole body, so it appends nothing.
  const appended = rest.map(({ value, from }, i) => {
    const longer =
      first.type === 'text' ? sql`${bodies.body} || ${value}` : sql`CAST(${bodies.body} || ${value} AS BLOB)`
    return [
      `body_${i + 1}`,
      db
        .update(bodies)
        .set({ body: longer })
        .where(and(isThis, sql`octet_length(${bodies.body}) = ${from}`)),
    ]
  })
  return { body, ...Object.fromEntries(appended), copy: copyForPrevious(db, isThis, now) }
}

/**
 * During the deploy that creates `bodies`, the previous version may process the event, and it reads only `payloads`.
 */
function copyForPrevious(db: Db, isThis: SQL | undefined, now: number): Query {
  const { project_id, id, body, headers } = bodies
  return insertFrom(
    db,
    payloads,
    { project_id, id, body, headers },
    sql`FROM ${bodies} WHERE ${isThis} AND EXISTS (
      SELECT 1 FROM ${state} WHERE ${state.name} = 'payloads_move_from' AND ${state.value} > ${now})
      ON CONFLICT DO NOTHING`,
  )
}

/** A part of a body as it is bound: text as it is, other bytes as hexadecimal, which SQLite turns into a BLOB. */
type Part = { type: 'text' | 'blob'; value: SQL; from: number }

/** @returns the parts, each with the byte at which it begins */
function partsOf(body: string | Uint8Array): [Part, ...Part[]] {
  if (typeof body === 'string') return textParts(body)
  const parts: Part[] = []
  for (let from = 0; from < body.byteLength || from === 0; from += MAX_BODY_PART / 2) {
    const hex = body.subarray(from, from + MAX_BODY_PART / 2).toHex()
    parts.push({ type: 'blob', value: sql`unhex(${hex})`, from })
  }
  return parts as [Part, ...Part[]]
}

/** Parts of a text, cut between characters. */
function textParts(text: string): [Part, ...Part[]] {
  const part = (value: string, from: number): Part => ({ type: 'text', value: sql`${value}`, from })
  if (text.length <= MAX_BODY_PART / 3) return [part(text, 0)] // a UTF-16 unit is at most three bytes
  const bytes = utf8(text)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const parts: Part[] = []
  for (let from = 0; from < bytes.byteLength; ) {
    let end = Math.min(from + MAX_BODY_PART, bytes.byteLength)
    while (isWithinCharacter(bytes[end])) end -= 1
    parts.push(part(decoder.decode(bytes.subarray(from, end)), from))
    from = end
  }
  return parts as [Part, ...Part[]]
}

/** Whether a byte of UTF-8 continues a character that began before it. */
function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}
