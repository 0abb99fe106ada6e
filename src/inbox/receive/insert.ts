import { and, eq, sql } from 'drizzle-orm'
import { batch, type Db, type Held, prepared, type Query, raw, rawWrite } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { bare } from '../../db/sql'
import { addUp } from '../../db/upsert'
import { MINUTE } from '../../lib/time'
import { state } from '../../stores/schema'
import { connections } from '../connections/schema'
import { fewerRowsFrom } from '../fewer-rows'
import { dueUnlessPaused, statusShown } from '../held'
import type { ShownStatus } from '../lifecycle'
import { FIRST_DUE_MS } from '../limits'
import { isKeyTaken } from '../packing'
import { bodies, events, minutes, payloads } from '../schema'
import { isDelivered } from '../sources'
import { partsOf, withPart } from './body-parts'
import { type EventsHeld, fenced, isLive } from './fence'
import { packedStatements } from './insert-packed'
import { type NewDelivery, payloadIdOf, type Recording, withOtherKey } from './recording'

/** An event as stored. If its id is not the new event's, the event is a duplicate. */
export type RecordedEvent = ReturnType<typeof statements>['recorded']['_']['result'][number]

/**
 * Records a delivery in one round trip, or counts its duplicates. Recording it again with the same ids changes nothing.
 *
 * @returns a row for each event; no rows if the fence does not hold, and then nothing is written
 */
export async function recordDelivery(db: Db, recording: Recording): Promise<RecordedEvent[]> {
  try {
    return (await batch(db, statements(db, recording), { idempotent: true })).recorded
  } catch (error) {
    if (!isKeyTaken(error)) throw error
    return recordDelivery(db, withOtherKey(recording))
  }
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
  const { received_at: now } = delivery
  const one = { ...fenced(fence), events: JSON.stringify(delivery.events) }
  const body = 'key' in delivery ? packedStatements(db, one, delivery) : null
  return {
    minute: countMinute(db, { ...one, now, minute: Math.floor(now / MINUTE) }),
    ...body?.before,
    recorded: insertEvents(db, { ...one, payload_id: payloadIdOf(delivery), now, due: now + FIRST_DUE_MS }),
    ...(body ? body.after : 'payload_id' in delivery && bodyStatements(db, fence.id, delivery)),
  }
}

type Counted = EventsHeld & { now: Held<number>; minute: Held<number> }

/** Counts repeats. New events are counted when they become final, except while the previous version may run: see ../fewer-rows.ts. */
const countMinute = prepared((db: Db, { now, minute, events: list, ...fence }: Counted) => {
  const received = sql`sum(${events.id} IS NULL AND ${now} < ${fewerRowsFrom} AND ${isDelivered(sql`j.value->>'id'`)})`
  const duplicates = sql`coalesce(sum(${events.id} <> j.value->>'id'), 0)`
  return insertFrom(
    db,
    minutes,
    {
      project_id: connections.project_id,
      minute: sql`${minute}`,
      connection_id: connections.id,
      received,
      duplicates,
    },
    sql`FROM ${connections} CROSS JOIN json_each(${list}) j
      LEFT JOIN ${events} ON ${events.connection_id} = ${connections.id} AND ${events.vendor_event_id} = j.value->>'vendor_event_id'
      WHERE ${isLive(fence)} GROUP BY ${connections.id} HAVING ${received} + ${duplicates} > 0
      ON CONFLICT DO UPDATE SET ${addUp(minutes.received, minutes.duplicates)}`,
  )
})

type Recorded = EventsHeld & { payload_id: Held<string>; now: Held<number>; due: Held<number> }

const insertEvents = prepared((db: Db, { payload_id, now, due, events: list, ...fence }: Recorded) => {
  const { id, vendor_event_id, status, deliveries, last_delivered_at, differing, last_differing_at } = events
  // False if either digest is null: nothing is known then.
  const differs = sql`((${id} <> excluded.${bare(id)} AND ${events.content_digest} <> excluded.${bare(events.content_digest)}) IS TRUE)`
  return raw(
    db,
    { id, vendor_event_id, status: sql<ShownStatus>`${statusShown(events)}`, deliveries },
    (fields) => sql`INSERT INTO ${events} (${bare(
      events.project_id,
      id,
      events.connection_id,
      vendor_event_id,
      events.event_type,
      events.occurred_at,
      events.payload_id,
      status,
      deliveries,
      events.due_at,
      last_delivered_at,
      events.content_digest,
    )})
      SELECT ${connections.project_id}, j.value->>'id', ${connections.id}, j.value->>'vendor_event_id',
        j.value->>'event_type', j.value->>'occurred_at', ${payload_id}, 'received',
        coalesce(j.value->>'deliveries', 1), ${dueUnlessPaused(sql`${due}`)}, ${now},
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
 * The statements that record a delivery's payload while the previous version may run, by name. They come after its events, and write
 * only if one of the events has this payload. A body that is larger than MAX_BODY_PART is appended part by part.
 */
function bodyStatements(db: Db, id: string, delivery: NewDelivery): Record<string, Query> {
  const { payload_id, received_at: now } = delivery
  const [first, ...rest] = partsOf(delivery.body)
  const one = { id, payload_id }
  const body = insertBody(db, {
    ...one,
    headers: JSON.stringify(delivery.headers),
    text: first.type === 'text' ? first.value : null,
    hex: first.type === 'blob' ? first.value : null,
    ids: JSON.stringify(delivery.events.map(({ id }) => id)),
  })
  // A repeat finds the whole body, so it appends nothing.
  const appended = rest.map((part, i) => [
    `body_${i + 1}`,
    db
      .update(bodies)
      .set({ body: withPart(bodies.body, part) })
      .where(and(isBody(one), sql`octet_length(${bodies.body}) = ${part.from}`)),
  ])
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
