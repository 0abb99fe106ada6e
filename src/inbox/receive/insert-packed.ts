import { and, eq, sql } from 'drizzle-orm'
import { type Db, type Held, prepared, type Query, rawWrite } from '../../db/client'
import { connections } from '../connections/schema'
import { events, PACKED_COLUMNS, packedBodies } from '../schema'
import { partsOf, withPart } from './body-parts'
import { type EventsHeld, isLive } from './fence'
import type { PackedDelivery } from './recording'

/**
 * The statements that record a packed body, by name. `before` comes before the events of the delivery, and writes only if one of them
 * is new. So a repeat writes nothing, and the statement fails if another body has the key. `after` appends what is too large for one
 * statement, if the body is that of these events.
 */
export function packedStatements(
  db: Db,
  one: { id: string; version: number | null; secret_id: string | null; events: string },
  { key, headers, packed, events: list }: PackedDelivery,
): { before: Record<string, Query>; after: Record<string, Query> } {
  const [first, ...rest] = partsOf(packed.body)
  const body = insertPacked(db, {
    ...one,
    key,
    headers: JSON.stringify(headers),
    encoding: packed.encoding,
    bytes: packed.bytes,
    text: first.type === 'text' ? first.value : null,
    hex: first.type === 'blob' ? first.value : null,
  })
  const ids = JSON.stringify(list.map(({ id }) => id))
  const isOwn = sql`EXISTS (SELECT 1 FROM ${connections} CROSS JOIN json_each(${ids}) j
    CROSS JOIN ${events} ON ${events.project_id} = ${connections.project_id} AND ${events.id} = j.value
      AND ${events.payload_id} = ${String(key)} WHERE ${connections.id} = ${one.id})`
  const appended = rest.map((part, i) => [
    `body_${i + 1}`,
    db
      .update(packedBodies)
      .set({ body: withPart(packedBodies.body, part) })
      .where(and(eq(packedBodies.key, key), isOwn, sql`octet_length(${packedBodies.body}) = ${part.from}`)),
  ])
  return { before: { body }, after: Object.fromEntries(appended) }
}

/** Exactly one of `text` and `hex` is the first part. */
type NewBody = EventsHeld & {
  key: Held<number>
  headers: Held<string>
  encoding: Held<string> | null
  bytes: Held<number>
  text: Held<string> | null
  hex: Held<string> | null
}

const insertPacked = prepared(
  (db: Db, { key, headers, encoding, bytes, text, hex, events: list, ...fence }: NewBody) => {
    return rawWrite(
      db,
      sql`INSERT INTO ${packedBodies} (${PACKED_COLUMNS})
      SELECT ${key}, ${connections.project_id}, ${headers}, ${encoding}, ${bytes}, ${text ?? sql`unhex(${hex})`}
      FROM ${connections} WHERE ${isLive(fence)} AND EXISTS (
        SELECT 1 FROM json_each(${list}) j LEFT JOIN ${events}
          ON ${events.connection_id} = ${connections.id} AND ${events.vendor_event_id} = j.value->>'vendor_event_id'
        WHERE ${events.id} IS NULL)`,
    )
  },
)
