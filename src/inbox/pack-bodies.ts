import { and, type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db, raw, rawWrite, run } from '../db/client'
import { idTime } from '../lib/ids'
import type { PassStep } from '../tenancy/pass'
import { PACKED_AT_ONCE, PACKED_BYTES, PACKED_LIST_BYTES } from './limits'
import { packedFrom } from './packed-from'
import { isKeyTaken, otherKey, packed } from './packing'
import { bodies, events, PACKED_COLUMNS, packedBodies, payloads } from './schema'
import { PREFIX_OF } from './sources'

const b = alias(bodies, 'b')
const e = alias(events, 'e')

/** A body that is moved. `key`: its new key. `hex`: its packed bytes as hexadecimal; null if it moves as it is. */
type Moved = { project_id: string; id: string; key: number; hex: string | null }

/**
 * Packs bodies that were recorded before `packed_bodies` existed: as many as have {@link PACKED_BYTES} together, but at least one. Bodies
 * that cannot be packed move as they are, within the database. If a body is deleted meanwhile, it stays deleted. An empty table costs one
 * statement that reads nothing.
 *
 * @param after the body after which the step begins: its project and its id
 */
export async function packBodies(db: Db, after: string, now: number): Promise<PassStep> {
  const rows = await run(db, nextBodies(db, after, now))
  const last = rows.at(-1)
  if (!last) return { done: 0, after: null }
  let room = PACKED_LIST_BYTES
  const moved: Moved[] = []
  for (const { project_id, id, text } of rows) {
    const { body } = text === null ? { body: null } : packed(text)
    const hex = body instanceof Uint8Array ? body.toHex() : null
    const fits = hex !== null && hex.length <= room
    if (fits) room -= hex.length
    moved.push({ project_id, id, key: otherKey(idTime(id)), hex: fits ? hex : null })
  }
  try {
    const { gone } = await batch(db, moving(db, JSON.stringify(moved)))
    return { done: gone.length, after: `${last.project_id} ${last.id}` }
  } catch (error) {
    if (!isKeyTaken(error)) throw error
    return { done: 0, after } // again, with other keys
  }
}

/** Of a store: from when payloads are packed (ms), and whether one is there whose event will get another `payload_id` then (1 or 0). */
export function findUnpacked(db: Db) {
  const inBodies = sql`SELECT 1 FROM ${bodies} ${b} INDEXED BY bodies_key CROSS JOIN ${events} ${e} WHERE ${isEventOf(e, b)}`
  const waits = sql<number>`(EXISTS (SELECT 1 FROM ${payloads}) OR EXISTS (${inBodies}))`
  return raw(db, { from: packedFrom, waits }, (fields) => sql`SELECT ${fields}`)
}

/** The condition that an event is of a body. The events of a delivery have ids of the same time as the body. */
function isEventOf(row: typeof e | typeof events, { project_id, id }: Record<'project_id' | 'id', SQL | Column>): SQL {
  const ofSource = (prefix: string) => sql`${row.id} >= ${`${prefix}_`} || substr(${id}, 5, 10)
    AND ${row.id} < ${`${prefix}_`} || substr(${id}, 5, 10) || '~'`
  const { delivery, fetch } = PREFIX_OF
  return sql`${row.project_id} = ${project_id} AND (${ofSource(delivery)} OR ${ofSource(fetch)}) AND ${row.payload_id} = ${id}`
}

function nextBodies(db: Db, after: string, now: number) {
  const [project = '', from = ''] = after.split(' ')
  // The inner query takes the sizes, so that no body passes through the sum.
  const first = sql`SELECT ${b.project_id} AS project_id, ${b.id} AS id, octet_length(${b.body}) AS bytes FROM ${bodies} ${b}
    INDEXED BY bodies_key WHERE (${b.project_id}, ${b.id}) > (${project}, ${from}) AND ${packedFrom} <= ${now}
    ORDER BY ${b.project_id}, ${b.id} LIMIT ${PACKED_AT_ONCE}`
  const summed = sql`SELECT *, sum(bytes) OVER (ORDER BY project_id, id ROWS UNBOUNDED PRECEDING) AS total FROM (${first})`
  const text = sql<string | null>`CASE typeof(${b.body}) WHEN 'text' THEN ${b.body} END`
  return raw(
    db,
    { project_id: b.project_id, id: b.id, text },
    (fields) => sql`SELECT ${fields} FROM (${summed}) c
      CROSS JOIN ${bodies} ${b} ON ${b.project_id} = c.project_id AND ${b.id} = c.id
      WHERE c.total <= ${PACKED_BYTES} OR c.total = c.bytes ORDER BY ${b.project_id}, ${b.id}`,
  )
}

function moving(db: Db, list: string) {
  const [project_id, id, key, hex] = ['project_id', 'id', 'key', 'hex'].map((name) =>
    sql.raw(`j.value->>'${name}'`),
  ) as [SQL, SQL, SQL, SQL]
  const isOfBody = (row: typeof e | typeof events) => isEventOf(row, { project_id, id })
  const isPacked = sql`EXISTS (SELECT 1 FROM ${packedBodies} WHERE ${packedBodies.key} = ${key})`
  return {
    packed: rawWrite(
      db,
      sql`INSERT INTO ${packedBodies} (${PACKED_COLUMNS})
        SELECT ${key}, ${b.project_id}, ${b.headers}, CASE WHEN ${hex} IS NOT NULL THEN 'deflate' END, octet_length(${b.body}),
          CASE WHEN ${hex} IS NULL THEN ${b.body} ELSE unhex(${hex}) END
        FROM json_each(${list}) j CROSS JOIN ${bodies} ${b} ON ${b.project_id} = ${project_id} AND ${b.id} = ${id}
        WHERE EXISTS (SELECT 1 FROM ${events} ${e} WHERE ${isOfBody(e)})`,
    ),
    events: db
      .update(events)
      .set({ payload_id: sql`CAST(${key} AS TEXT)` })
      .from(sql`json_each(${list}) j`)
      .where(and(isOfBody(events), isPacked)),
    gone: db
      .delete(bodies)
      .where(
        sql`(${bodies.project_id}, ${bodies.id}) IN (SELECT ${project_id}, ${id} FROM json_each(${list}) j WHERE ${isPacked})`,
      )
      .returning({ id: bodies.id }),
  }
}
