import { and, eq, isNull, not, sql } from 'drizzle-orm'
import { batch, type Db, type Held, prepared, type Query, raw, rawWrite } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { bare } from '../../db/sql'
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

/** The statements that record a delivery. `minute` comes first, because it asks which events are stored already. */
function statements(db: Db, recording: Recording) {
  const { fence, delivery } = recording
  const { payload_id, received_at: now } = delivery
  const one = { ...fenced(fence), events: JSON.stringify(delivery.events) }
  return {
    minute: countMinute(db, { ...one, minute: Math.floor(now / MINUTE) }),
    recorded: insertEvents(db, { ...one, payload_id, now, due: now + FIRST_DUE_MS }),
    ...bodyStatements(db, recording),
  }
}

/** What a fence compares. */
function fenced(fence: Fence) {
  const [version, secret_id] = 'version' in fence ? [fence.version, null] : [null, fence.secret_id]
  return { id: fence.id, version, secret_id }
}

type FenceHeld = { id: Held<string>; version: Held<number> | null; secret_id: Held<string> | null }
/**
 * `events` is a list as JSON, because a statement binds at most 100 values. CROSS JOIN pins the order of each join: left alone,
 * SQLite's planner picks scans at a million rows.
 */
type EventsHeld = FenceHeld & { events: Held<string> }

/** The condition on the connection: it has not changed, or its secret is still there, and it is live. */
function isLive({ id, version, secret_id }: FenceHeld) {
  const holds =
    version !== null
      ? eq(connections.version, version)
      : sql`EXISTS (SELECT 1 FROM json_each(${connections.secrets}) s WHERE s.value->>'id' = ${secret_id})`
  return and(eq(connections.id, id), isNull(connections.deleted_at), not(isDeleted(connections.project_id)), holds)
}

const countMinute = prepared((db: Db, { minute, events: list, ...fence }: EventsHeld & { minute: Held<number> }) =>
  insertFrom(
    db,
    minutes,
    {
      project_id: connections.project_id,
      minute: sql`${minute}`,
      connection_id: connections.id,
      received: sql`sum(${events.id} IS NULL)`,
      duplicates: sql`coalesce(sum(${events.id} <> j.value->>'id'), 0)`,
    },
    sql`FROM ${connections} CROSS JOIN json_each(${list}) j
      LEFT JOIN ${events} ON ${events.connection_id} = ${connections.id} AND ${events.vendor_event_id} = j.value->>'vendor_event_id'
      WHERE ${isLive(fence)} GROUP BY ${connections.id}
      ON CONFLICT DO UPDATE SET ${addUp(minutes.received, minutes.duplicates)}`,
  ),
)

type Recorded = EventsHeld & { payload_id: Held<string>; now: Held<number>; due: Held<number> }

const insertEvents = prepared((db: Db, { payload_id, now, due, events: list, ...fence }: Recorded) => {
  const { id, vendor_event_id, status, deliveries, last_delivered_at, differing, last_differing_at } = events
  // False if either digest is null: nothing is known then.
  const differs = sql`((${id} <> excluded.${bare(id)} AND ${events.content_digest} <> excluded.${bare(events.content_digest)}) IS TRUE)`
  return raw(
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
        j.value->>'event_type', j.value->>'occurred_at', ${payload_id}, 'received', ${due}, ${now},
        j.value->>'content_digest'
      FROM ${connections} CROSS JOIN json_each(${list}) j WHERE ${isLive(fence)}
      ON CONFLICT DO UPDATE SET ${bare(deliveries)} = ${deliveries} + (${id} <> excluded.${bare(id)}),
        ${bare(last_delivered_at)} = excluded.${bare(last_delivered_at)},
        ${bare(differing)} = ${differing} + ${differs},
        ${bare(last_differing_at)} = CASE WHEN ${differs} THEN ${now} ELSE ${last_differing_at} END
      RETURNING ${fields}`,
  )
})

/**
 * The statements that record a delivery's payload, by name. They come after its events, and write only if one of the
 * events has this payload. A body that is larger than {@link MAX_BODY_PART} is appended part by part.
 */
export function bodyStatements(db: Db, { fence, delivery }: Recording): Record<string, Query> {
  const { payload_id, received_at: now } = delivery
  const [first, ...rest] = partsOf(delivery.body)
  const one = { id: fence.id, payload_id }
  const body = insertBody(db, {
    ...one,
    headers: JSON.stringify(delivery.headers),
    text: first.type === 'text' ? first.value : null,
    hex: first.type === 'blob' ? first.value : null,
    ids: JSON.stringify(delivery.events.map(({ id }) => id)),
  })
  // A repeat finds the whole body, so it appends nothing.
  const appended = rest.map(({ type, value, from }, i) => {
    const longer =
      type === 'text' ? sql`${bodies.body} || ${value}` : sql`CAST(${bodies.body} || unhex(${value}) AS BLOB)`
    return [
      `body_${i + 1}`,
      db
        .update(bodies)
        .set({ body: longer })
        .where(and(isBody(one), sql`octet_length(${bodies.body}) = ${from}`)),
    ]
  })
  return { body, ...Object.fromEntries(appended), copy: copyForPrevious(db, { ...one, now }) }
}

type BodyHeld = { id: Held<string>; payload_id: Held<string> }
/** Exactly one of `text` and `hex` is the first part. `ids`: of the events, as JSON. */
type NewBody = BodyHeld & {
  headers: Held<string>
  text: Held<string> | null
  hex: Held<string> | null
  ids: Held<string>
}

const insertBody = prepared((db: Db, { id, payload_id, headers, text, hex, ids }: NewBody) =>
  rawWrite(
    db,
    sql`INSERT INTO ${bodies} (${bare(bodies.project_id, bodies.id, bodies.headers, bodies.body)})
      SELECT ${connections.project_id}, ${payload_id}, ${headers}, ${text ?? sql`unhex(${hex})`}
      FROM ${connections} WHERE ${connections.id} = ${id} AND EXISTS (
        SELECT 1 FROM json_each(${ids}) j
        CROSS JOIN ${events} ON ${events.project_id} = ${connections.project_id} AND ${events.id} = j.value
          AND ${events.payload_id} = ${payload_id})
      ON CONFLICT DO NOTHING`,
  ),
)

/** The condition on the row of a body. */
function isBody({ id, payload_id }: BodyHeld | { id: string; payload_id: string }) {
  const projectId = sql`(SELECT ${connections.project_id} FROM ${connections} WHERE ${connections.id} = ${id})`
  return and(eq(bodies.project_id, projectId), eq(bodies.id, payload_id))
}

/**
 * During the deploy that creates `bodies`, the previous version may process the event, and it reads only `payloads`.
 */
const copyForPrevious = prepared((db: Db, { now, ...one }: BodyHeld & { now: Held<number> }) => {
  const { project_id, id, body, headers } = bodies
  return insertFrom(
    db,
    payloads,
    { project_id, id, body, headers },
    sql`FROM ${bodies} WHERE ${isBody(one)} AND EXISTS (
      SELECT 1 FROM ${state} WHERE ${state.name} = 'payloads_move_from' AND ${state.value} > ${now})
      ON CONFLICT DO NOTHING`,
  )
})

/** A part of a body as it is bound: text as it is, other bytes as hexadecimal, which SQLite turns into a BLOB. */
type Part = { type: 'text' | 'blob'; value: string; from: number }

/** @returns the parts, each with the byte at which it begins */
function partsOf(body: string | Uint8Array): [Part, ...Part[]] {
  if (typeof body === 'string') return textParts(body)
  const parts: Part[] = []
  for (let from = 0; from < body.byteLength || from === 0; from += MAX_BODY_PART / 2) {
    const hex = body.subarray(from, from + MAX_BODY_PART / 2).toHex()
    parts.push({ type: 'blob', value: hex, from })
  }
  return parts as [Part, ...Part[]]
}

/** Parts of a text, cut between characters. */
function textParts(text: string): [Part, ...Part[]] {
  const part = (value: string, from: number): Part => ({ type: 'text', value, from })
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
