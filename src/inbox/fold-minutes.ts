import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { CHUNK_ROWS } from '../db/limits'
import { bare, excluded } from '../db/sql'
import { addUp, addUpCounts } from '../db/upsert'
import { HOUR, MINUTE } from '../lib/time'
import { type PassStart, type PassStep, passStep } from '../tenancy/pass'
import { LATE_MS, MINUTES_KEPT_MS } from './limits'
import { minutes } from './schema'

const HOUR_MINUTES = HOUR / MINUTE
const m = alias(minutes, 'm')

/**
 * Folds rollups of minutes that are no longer kept as such into the first minute of their hour: a chunk of them,
 * beginning after the project `start.after`. Rollups only add up, so it does not matter if a chunk ends in the middle
 * of an hour.
 *
 * @param folded the time (ms) up to which all were folded before. Before it, the pass looks only for
 *   minutes that came up to {@link LATE_MS} late: without this bound, every pass would read every hour that is kept.
 */
export function foldMinutes(
  db: Db,
  start: PassStart,
  { now, folded }: { now: number; folded: number },
): Promise<PassStep> {
  const until = Math.floor((now - MINUTES_KEPT_MS) / HOUR) * HOUR_MINUTES
  const from = Math.floor((folded - MINUTES_KEPT_MS - LATE_MS) / MINUTE)
  return passStep(db, start, CHUNK_ROWS, (slice) => {
    // No first minute is among them, so that folding does not change which they are.
    const chunk = (fields: SQL) => sql`SELECT ${fields} FROM ${slice} CROSS JOIN ${minutes} ${m}
      WHERE ${m.project_id} = p.id AND ${m.minute} >= ${from} AND ${m.minute} < ${until}
        AND ${m.minute} % ${HOUR_MINUTES} <> 0 LIMIT ${CHUNK_ROWS}`
    return {
      folded: fold(db, chunk(sql`${m}.*`)),
      gone: db
        .delete(minutes)
        .where(
          sql`(${minutes.project_id}, ${minutes.minute}, ${minutes.connection_id})
            IN (${chunk(sql`${m.project_id}, ${m.minute}, ${m.connection_id}`)})`,
        )
        .returning({ project_id: minutes.project_id }),
    }
  })
}

/** Adds rows of `minutes` to the first minute of their hour, by connection. */
function fold(db: Db, rows: SQL) {
  const c = alias(minutes, 'c')
  const h = alias(minutes, 'h')
  const sum = (column: Column) => sql`sum(${column}) AS ${bare(column)}`
  const list = (column: Column) => sql`json_group_array(json(${column})) AS ${bare(column)}`
  const merged = (lists: Column) => sql`(SELECT json_group_object(k, v) FROM (SELECT j.key AS k, sum(j.value) AS v
    FROM json_each(${lists}) l CROSS JOIN json_each(l.value) j GROUP BY j.key))`
  const { received, duplicates, refused, processed, ignored, failed, lag, lag_sum, lag_max } = c
  // One row an hour and connection, with the counts of its minutes as a list.
  const hours = sql`SELECT ${c.project_id}, ${c.minute} - ${c.minute} % ${HOUR_MINUTES} AS ${bare(c.minute)},
      ${c.connection_id}, ${sum(received)}, ${sum(duplicates)}, ${sum(processed)}, ${sum(ignored)}, ${sum(failed)},
      ${sum(lag_sum)}, max(${lag_max}) AS ${bare(lag_max)}, ${list(refused)}, ${list(lag)}
    FROM (${rows}) ${c} GROUP BY 1, 2, 3`
  return insertFrom(
    db,
    minutes,
    {
      project_id: h.project_id,
      minute: h.minute,
      connection_id: h.connection_id,
      received: h.received,
      duplicates: h.duplicates,
      refused: merged(h.refused),
      processed: h.processed,
      ignored: h.ignored,
      failed: h.failed,
      lag: merged(h.lag),
      lag_sum: h.lag_sum,
      lag_max: h.lag_max,
    },
    sql`FROM (${hours}) ${h} WHERE true ON CONFLICT DO UPDATE SET ${sql.join(foldedIn, sql`, `)}`,
  )
}

const foldedIn: SQL[] = [
  addUp(minutes.received, minutes.duplicates, minutes.processed, minutes.ignored, minutes.failed, minutes.lag_sum),
  sql`${bare(minutes.lag_max)} = max(${minutes.lag_max}, ${excluded(minutes.lag_max)})`,
  addUpCounts(minutes.refused),
  addUpCounts(minutes.lag),
]
