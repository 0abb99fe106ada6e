import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, run } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { idFloor, idRange } from '../lib/ids'
import { MINUTE } from '../lib/time'
import { type PassStart, type PassStep, passStep } from '../tenancy/pass'
import { connections } from './connections/schema'
import { notOnHold, onHoldBy } from './held'
import { CHUNK_EVENTS, CHUNK_PAYLOADS } from './limits'
import { allOpenProjects } from './open-projects'
import { keyFloor } from './packing'
import {
  attempts,
  type bodies,
  events,
  minutes,
  packedBodies,
  packedKeyOf,
  type payloads,
  refs,
  replays,
  totals,
} from './schema'
import { isBefore, isDelivered, PREFIX_OF, rangesBefore, type Source } from './sources'

/*
 * Each function is one step of a pass over all projects: it deletes a chunk, beginning after the project `from.after`. CROSS
 * JOIN pins the order: project by project, each by its primary key.
 */

const c = alias(connections, 'c')
const e = alias(events, 'e')
const r = alias(replays, 'r')
const m = alias(minutes, 'm')
const y = alias(packedBodies, 'y')

/**
 * Selects from the open events that were recorded before a time (ms): a payload is as old as its events. There may be millions of
 * held events, so they are read connection by connection, where the index has them in the order of their receipt.
 *
 * @param p a table `p` of the ids of projects
 */
function openBefore(fields: SQL, p: SQL, before: number): SQL {
  return sql`SELECT ${fields} FROM ${p} CROSS JOIN ${events} ${e} INDEXED BY events_open
      WHERE ${e.project_id} = p.id AND ${notOnHold(e)} AND ${isBefore(e.id, before)}
    UNION ALL SELECT ${fields} FROM ${p} CROSS JOIN ${connections} ${c} INDEXED BY connections_held
      CROSS JOIN ${rangesBefore(before)} CROSS JOIN ${events} ${e} INDEXED BY events_open
      WHERE ${c.project_id} = p.id AND ${c.held_as} IS NOT NULL AND ${onHoldBy(e, c)} AND ${e.id} >= r.first AND ${e.id} < r.floor`
}

/** Deletes payloads of final events that arrived before `before` (ms) from one of the tables that hold payloads. */
export function purgePayloads(
  db: Db,
  table: typeof bodies | typeof payloads,
  from: PassStart,
  before: number,
): Promise<PassStep> {
  const y = alias(table, 'y')
  return passStep(db, from, CHUNK_PAYLOADS, (slice) => {
    const needed = openBefore(sql`${e.project_id}, ${e.payload_id}`, slice, before)
    const chunk = sql`SELECT ${y.project_id}, ${y.id} FROM ${slice} CROSS JOIN ${table} ${y}
      WHERE ${y.project_id} = p.id AND ${y.id} < ${idFloor('pay', before)}
        AND (${y.project_id}, ${y.id}) NOT IN (${needed}) LIMIT ${CHUNK_PAYLOADS}`
    const gone = db
      .delete(table)
      .where(sql`(${table.project_id}, ${table.id}) IN (${chunk})`)
      .returning({ project_id: table.project_id })
    return { gone }
  })
}

/**
 * As {@link purgePayloads}, for packed bodies: a chunk over all projects at once, because their keys sort by time.
 *
 * @returns `after` is null once none is left
 */
export async function purgePacked(db: Db, before: number): Promise<PassStep> {
  const needed = sql`WITH RECURSIVE ${allOpenProjects} ${openBefore(packedKeyOf(e.payload_id), sql`p`, before)}`
  const chunk = sql`SELECT ${y.key} FROM ${packedBodies} ${y}
    WHERE ${y.key} < ${keyFloor(before)} AND ${y.key} NOT IN (${needed}) LIMIT ${CHUNK_PAYLOADS}`
  const gone = await run(
    db,
    db.delete(packedBodies).where(sql`${packedBodies.key} IN (${chunk})`).returning({ key: packedBodies.key }),
  )
  return { done: gone.length, after: gone.length < CHUNK_PAYLOADS ? null : 'more' }
}

/** Deletes final events of a source that were recorded before `before` (ms), with everything that belongs to them. */
export function purgeEvents(db: Db, from: PassStart, before: number, source: Source): Promise<PassStep> {
  const { above } = idRange(PREFIX_OF[source], null, null)
  return passStep(db, from, CHUNK_EVENTS, (slice) => {
    // The same events in each statement. `+` keeps the planner from another index, whose order is another.
    const chunk = (fields: SQL) => sql`(SELECT ${fields} FROM ${slice} CROSS JOIN ${events} ${e}
      WHERE ${e.project_id} = p.id AND ${e.id} > ${above} AND ${e.id} < ${idFloor(PREFIX_OF[source], before)}
        AND +${e.due_at} IS NULL
      LIMIT ${CHUNK_EVENTS})`
    const chunkRefs = sql`(SELECT c.project_id, j.value, c.id
      FROM ${chunk(sql`${e.project_id}, ${e.id}, ${e.summary}`)} c CROSS JOIN json_each(c.summary, '$.refs') j)`
    const counted = sql`(SELECT c.project_id AS project_id, c.status AS status, count(*) AS n
      FROM ${chunk(sql`${e.project_id}, ${e.status}, ${e.id}`)} c WHERE ${isDelivered(sql`c.id`)} GROUP BY 1, 2) c`
    return {
      refs: db.delete(refs).where(sql`(${refs.project_id}, ${refs.ref}, ${refs.event_id}) IN ${chunkRefs}`),
      attempts: db.delete(attempts).where(sql`${attempts.event_id} IN ${chunk(sql`${e.id}`)}`),
      totals: db
        .update(totals)
        .set({ n: sql`${totals.n} - c.n` })
        .from(counted)
        .where(sql`${totals.project_id} = c.project_id AND ${totals.status} = c.status`),
      gone: db
        .delete(events)
        .where(sql`(${events.project_id}, ${events.id}) IN ${chunk(sql`${e.project_id}, ${e.id}`)}`)
        .returning({ project_id: events.project_id }),
    }
  })
}

/** Deletes replays that were requested before `before` (ms). */
export function purgeReplays(db: Db, from: PassStart, before: number): Promise<PassStep> {
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    const chunk = sql`SELECT ${r.project_id}, ${r.id} FROM ${slice} CROSS JOIN ${replays} ${r}
      WHERE ${r.project_id} = p.id AND ${r.id} < ${idFloor('rpl', before)} LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(replays)
      .where(sql`(${replays.project_id}, ${replays.id}) IN (${chunk})`)
      .returning({ project_id: replays.project_id })
    return { gone }
  })
}

/** Deletes rollups of the time before `before` (ms). */
export function purgeMinutes(db: Db, from: PassStart, before: number): Promise<PassStep> {
  return passStep(db, from, CHUNK_ROWS, (slice) => {
    const chunk = sql`SELECT ${m.project_id}, ${m.minute}, ${m.connection_id} FROM ${slice} CROSS JOIN ${minutes} ${m}
      WHERE ${m.project_id} = p.id AND ${m.minute} < ${before / MINUTE} LIMIT ${CHUNK_ROWS}`
    const gone = db
      .delete(minutes)
      .where(sql`(${minutes.project_id}, ${minutes.minute}, ${minutes.connection_id}) IN (${chunk})`)
      .returning({ project_id: minutes.project_id })
    return { gone }
  })
}
