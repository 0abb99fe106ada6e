import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { attempts, events, minutes, payloads, projects, refs, replays, totals } from '../../db/schema'
import { idFloor } from '../../lib/ids'
import { DAY, HOUR, MINUTE } from '../../lib/time'

/** Rows a chunk takes, and chunks a run: the rest is left to the next day's. */
const CHUNK = 200
const MAX_CHUNKS = 50
/** Rollups are kept by the minute this long, then by the hour. */
export const MINUTES_KEPT = 2 * DAY
const HOUR_MINUTES = HOUR / MINUTE

/** Removes the payloads of final events that came in before `before` (ms). @returns how many went */
export function purgePayloads(db: Db, before: number): Promise<number> {
  return eachProject(db, async (project) => {
    const [gone] = await db.batch([
      sql<{ id: string }>`DELETE FROM ${payloads} WHERE project_id = ${project} AND id IN (
        SELECT id FROM ${payloads} WHERE project_id = ${project} AND id < ${idFloor('pay', before)}
          AND id NOT IN (SELECT payload_id FROM ${events} INDEXED BY events_open WHERE project_id = ${project} AND due_at IS NOT NULL)
        LIMIT ${CHUNK}) RETURNING id`,
    ])
    return gone.rows.length
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
  const gone = await eachProject(db, async (project) => {
    const old = sql`SELECT id FROM ${events} WHERE project_id = ${project} AND id < ${idFloor('evt', before)}
      AND due_at IS NULL ORDER BY id LIMIT ${CHUNK}`
    const results = await db.batch([
      sql`DELETE FROM ${refs} WHERE project_id = ${project} AND (ref, event_id) IN (
        SELECT r.value, e.id FROM ${events} e CROSS JOIN json_each(e.summary, '$.refs') r
        WHERE e.project_id = ${project} AND e.id IN (${old}))`,
      sql`DELETE FROM ${attempts} WHERE event_id IN (${old})`,
      sql`UPDATE ${totals} SET n = n - (SELECT count(*) FROM ${events} e
          WHERE e.project_id = ${project} AND e.id IN (${old}) AND e.status = totals.status)
        WHERE project_id = ${project}`,
      sql<{ id: string }>`DELETE FROM ${events} WHERE project_id = ${project} AND id IN (${old}) RETURNING id`,
    ])
    return results[3].rows.length
  })
  await eachProject(db, async (project) => {
    const [, rolled] = await db.batch([
      sql`DELETE FROM ${replays} WHERE project_id = ${project} AND id < ${idFloor('rpl', before)}`,
      sql<{ minute: number }>`DELETE FROM ${minutes} WHERE project_id = ${project} AND (minute, connection_id) IN (
        SELECT minute, connection_id FROM ${minutes} WHERE project_id = ${project}
          AND minute < ${before / MINUTE} LIMIT ${CHUNK}) RETURNING minute`,
    ])
    return rolled.rows.length
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
  return eachProject(db, async (project) => {
    // Whole hours: the oldest that still has a row besides its first.
    const hour = await db.first(sql<{ hour: number }>`SELECT minute - minute % ${HOUR_MINUTES} AS hour FROM ${minutes}
      WHERE project_id = ${project} AND minute < ${before} AND minute % ${HOUR_MINUTES} <> 0 ORDER BY minute LIMIT 1`)
    if (!hour) return 0
    const first = Math.round(hour.hour)
    const within = sql`project_id = ${project} AND minute > ${first} AND minute < ${first + HOUR_MINUTES}`
    const merged = (column: string) =>
      sql.raw(`(SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v FROM
        (SELECT key, value FROM json_each(minutes.${column}) UNION ALL SELECT key, value FROM json_each(excluded.${column})) GROUP BY key))`)
    const folded = (column: string) =>
      sql.raw(`(SELECT json_group_object(k, v) FROM (SELECT j.key AS k, sum(j.value) AS v FROM minutes i CROSS JOIN json_each(i.${column}) j
        WHERE i.project_id = m.project_id AND i.connection_id = m.connection_id
          AND i.minute > ${first} AND i.minute < ${first + HOUR_MINUTES} GROUP BY j.key))`)
    const [, gone] = await db.batch([
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
    return gone.rows.length
  })
}

/** Runs a step for every project until it has nothing left to do, within bounds. @returns the sum of what it did */
async function eachProject(db: Db, step: (project: string) => Promise<number>): Promise<number> {
  const list = await db.all(sql<{ id: string }>`SELECT id FROM ${projects}`)
  let sum = 0
  for (const { id } of list) {
    for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
      const done = await step(id)
      sum += done
      if (done === 0) break
    }
  }
  return sum
}
