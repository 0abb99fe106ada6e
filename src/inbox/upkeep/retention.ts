import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old as oldDb } from '../../db/old'
import { idFloor } from '../../lib/ids'
import { DAY, HOUR, MINUTE } from '../../lib/time'
import { projects } from '../../projects/schema'
import { attempts, events, minutes, payloads, refs, replays, totals } from '../schema'

/** Rows a chunk takes, and chunks of a project a run: the rest is left to the next day's. */
const CHUNK = 1000
const MAX_CHUNKS = 100
/** Rollups are kept by the minute this long, then by the hour. */
export const MINUTES_KEPT = 2 * DAY
const HOUR_MINUTES = HOUR / MINUTE

/** Removes the payloads of final events that came in before `before` (ms). @returns how many went */
export function purgePayloads(db: Db, before: number): Promise<number> {
  const old = (project: SQL) => sql`FROM ${payloads} WHERE project_id = ${project} AND id < ${idFloor('pay', before)}`
  return eachProject(db, sql`EXISTS (SELECT 1 ${old(projectId)})`, async (project) => {
    const gone = await oldDb(db).all(sql<{
      id: string
    }>`DELETE FROM ${payloads} WHERE project_id = ${project} AND id IN (
        SELECT id ${old(sql`${project}`)}
          AND id NOT IN (SELECT payload_id FROM ${events} INDEXED BY events_open WHERE project_id = ${project} AND due_at IS NOT NULL)
        LIMIT ${CHUNK}) RETURNING id`)
    return chunkOf(gone)
  })
}

/**
 * Removes final events that came in before the hour of `until` (ms), with all that hangs on them. Whole hours, as the
 * rollups of that time are: an event and its share of them go together.
 *
 * @returns how many went
 */
export async function purgeRecords(db: Db, until: number): Promise<number> {
  const before = Math.floor(until / HOUR) * HOUR
  const finals = (project: SQL) =>
    sql`FROM ${events} WHERE project_id = ${project} AND id < ${idFloor('evt', before)} AND due_at IS NULL`
  const gone = await eachProject(db, sql`EXISTS (SELECT 1 ${finals(projectId)})`, async (project) => {
    const old = sql`SELECT id ${finals(sql`${project}`)} ORDER BY id LIMIT ${CHUNK}`
    const results = await oldDb(db).batch([
      sql`DELETE FROM ${refs} WHERE project_id = ${project} AND (ref, event_id) IN (
        SELECT r.value, e.id FROM ${events} e CROSS JOIN json_each(e.summary, '$.refs') r
        WHERE e.project_id = ${project} AND e.id IN (${old}))`,
      sql`DELETE FROM ${attempts} WHERE event_id IN (${old})`,
      sql`UPDATE ${totals} SET n = n - (SELECT count(*) FROM ${events} e
          WHERE e.project_id = ${project} AND e.id IN (${old}) AND e.status = totals.status)
        WHERE project_id = ${project}`,
      sql<{ id: string }>`DELETE FROM ${events} WHERE project_id = ${project} AND id IN (${old}) RETURNING id`,
    ])
    return chunkOf(results[3].rows)
  })
  const asked = (project: SQL) => sql`FROM ${replays} WHERE project_id = ${project} AND id < ${idFloor('rpl', before)}`
  const rolled = (project: SQL) => sql`FROM ${minutes} WHERE project_id = ${project} AND minute < ${before / MINUTE}`
  const either = sql`EXISTS (SELECT 1 ${asked(projectId)}) OR EXISTS (SELECT 1 ${rolled(projectId)})`
  await eachProject(db, either, async (project) => {
    const [, rows] = await oldDb(db).batch([
      sql`DELETE ${asked(sql`${project}`)}`,
      sql<{ minute: number }>`DELETE FROM ${minutes} WHERE project_id = ${project} AND (minute, connection_id) IN (
        SELECT minute, connection_id ${rolled(sql`${project}`)} LIMIT ${CHUNK}) RETURNING minute`,
    ])
    return chunkOf(rows.rows)
  })
  return gone
}

/**
 * Folds the rollups of past minutes into their hour's first one. A row that comes late is folded in by the next run.
 *
 * @returns how many minutes were folded
 */
export function compactMinutes(db: Db, now: number): Promise<number> {
  const before = Math.floor((now - MINUTES_KEPT) / HOUR) * HOUR_MINUTES
  const past = (project: SQL) =>
    sql`FROM ${minutes} WHERE project_id = ${project} AND minute < ${before} AND minute % ${HOUR_MINUTES} <> 0`
  return eachProject(db, sql`EXISTS (SELECT 1 ${past(projectId)})`, async (project) => {
    // Whole hours: the oldest that still has a row besides its first.
    const hour = await oldDb(db).first(sql<{ hour: number }>`SELECT minute - minute % ${HOUR_MINUTES} AS hour
      ${past(sql`${project}`)} ORDER BY minute LIMIT 1`)
    if (!hour) return { done: 0, more: false }
    const first = Math.round(hour.hour)
    const within = sql`project_id = ${project} AND minute > ${first} AND minute < ${first + HOUR_MINUTES}`
    const merged = (column: string) =>
      sql.raw(`(SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v FROM
        (SELECT key, value FROM json_each(minutes.${column}) UNION ALL SELECT key, value FROM json_each(excluded.${column})) GROUP BY key))`)
    const folded = (column: string) =>
      sql.raw(`(SELECT json_group_object(k, v) FROM (SELECT j.key AS k, sum(j.value) AS v FROM minutes i CROSS JOIN json_each(i.${column}) j
        WHERE i.project_id = m.project_id AND i.connection_id = m.connection_id
          AND i.minute > ${first} AND i.minute < ${first + HOUR_MINUTES} GROUP BY j.key))`)
    const [, gone] = await oldDb(db).batch([
      sql`INSERT INTO ${minutes} (project_id, minute, connection_id, received, duplicates, refused, processed, ignored, failed,
          lag, lag_sum, lag_max)
        SELECT project_id, CAST(${first} AS INTEGER), connection_id, sum(received), sum(duplicates), ${folded('refused')},
          sum(processed), sum(ignored), sum(failed), ${folded('lag')}, sum(lag_sum), max(lag_max)
        FROM ${minutes} m WHERE ${within} GROUP BY connection_id
        ON CONFLICT DO UPDATE SET received = received + excluded.received, duplicates = duplicates + excluded.duplicates,
          refused = ${merged('refused')}, processed = processed + excluded.processed, ignored = ignored + excluded.ignored,
          failed = failed + excluded.failed, lag = ${merged('lag')}, lag_sum = lag_sum + excluded.lag_sum,
          lag_max = max(lag_max, excluded.lag_max)`,
      sql<{ minute: number }>`DELETE FROM ${minutes} WHERE ${within} RETURNING minute`,
    ])
    return { done: gone.rows.length, more: true }
  })
}

/** The project of {@link eachProject}'s condition. */
const projectId = sql`${projects}.id`

type Chunk = { done: number; more: boolean }
const chunkOf = (rows: readonly unknown[]): Chunk => ({ done: rows.length, more: rows.length === CHUNK })

/**
 * Runs a step for every project that has something to do, until it has done it, within bounds. A project that has
 * nothing to do costs no round trip.
 *
 * @returns the sum of what was done
 */
async function eachProject(db: Db, condition: SQL, step: (project: string) => Promise<Chunk>): Promise<number> {
  const list = await oldDb(db).all(sql<{ id: string }>`SELECT id FROM ${projects} WHERE ${condition}`)
  let sum = 0
  for (const { id } of list) {
    for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
      const { done, more } = await step(id)
      sum += done
      if (!more) break
    }
  }
  return sum
}
