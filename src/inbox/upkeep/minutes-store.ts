import { and, type Column, eq, exists, lt, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db, run } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { bare, excluded } from '../../db/sql'
import { addUp, addUpCounts } from '../../db/upsert'
import { HOUR, MINUTE } from '../../lib/time'
import { projects } from '../../projects/schema'
import { minutes } from '../schema'
import { eachProject } from './chunks'
import { MINUTES_KEPT_MS } from './limits'
import { projectsWhere } from './store'

const HOUR_MINUTES = HOUR / MINUTE

/**
 * Folds the rollups of minutes that are no longer kept as such into the first minute of their hour. A row that arrives
 * late is folded by the next run.
 *
 * @returns how many minutes were folded
 */
export function compactMinutes(db: Db, now: number): Promise<number> {
  const before = Math.floor((now - MINUTES_KEPT_MS) / HOUR) * HOUR_MINUTES
  const past = (project: string | Column) => {
    const isFirst = sql`${minutes.minute} % ${HOUR_MINUTES} = 0`
    const condition = and(eq(minutes.project_id, project), lt(minutes.minute, before), not(isFirst))
    return db.select({ minute: minutes.minute }).from(minutes).where(condition)
  }
  const concerned = projectsWhere(db, exists(past(projects.id)))
  return eachProject(db, concerned, async (project) => {
    // Whole hours: the oldest one that still has a row besides its first.
    const [oldest] = await run(db, past(project).orderBy(minutes.minute).limit(1))
    if (!oldest) return { done: 0, more: false }
    const hour = oldest.minute - (oldest.minute % HOUR_MINUTES)
    const { gone } = await batch(db, {
      folded: fold(db, project, hour),
      gone: db
        .delete(minutes)
        .where(and(eq(minutes.project_id, project), isWithin(minutes.minute, hour)))
        .returning({ minute: minutes.minute }),
    })
    return { done: gone.length, more: true }
  })
}

/** Adds the minutes of an hour to its first one, by connection. */
function fold(db: Db, project: string, hour: number) {
  const m = alias(minutes, 'm')
  const i = alias(minutes, 'i')
  const summed = (column: Column) => sql`sum(${column})`
  const summedCounts = (counts: Column) => sql`(SELECT json_group_object(k, v) FROM (
    SELECT j.key AS k, sum(j.value) AS v FROM ${minutes} ${i} CROSS JOIN json_each(${counts}) j
    WHERE ${i.project_id} = ${m.project_id} AND ${i.connection_id} = ${m.connection_id} AND ${isWithin(i.minute, hour)}
    GROUP BY j.key))`
  return insertFrom(
    db,
    minutes,
    {
      project_id: m.project_id,
      minute: sql`CAST(${hour} AS INTEGER)`,
      connection_id: m.connection_id,
      received: summed(m.received),
      duplicates: summed(m.duplicates),
      refused: summedCounts(i.refused),
      processed: summed(m.processed),
      ignored: summed(m.ignored),
      failed: summed(m.failed),
      lag: summedCounts(i.lag),
      lag_sum: summed(m.lag_sum),
      lag_max: sql`max(${m.lag_max})`,
    },
    sql`FROM ${minutes} ${m} WHERE ${m.project_id} = ${project} AND ${isWithin(m.minute, hour)}
      GROUP BY ${m.connection_id} ON CONFLICT DO UPDATE SET ${sql.join(foldedIn, sql`, `)}`,
  )
}

const foldedIn: SQL[] = [
  addUp(minutes.received, minutes.duplicates, minutes.processed, minutes.ignored, minutes.failed, minutes.lag_sum),
  sql`${bare(minutes.lag_max)} = max(${minutes.lag_max}, ${excluded(minutes.lag_max)})`,
  addUpCounts(minutes.refused),
  addUpCounts(minutes.lag),
]

/** Whether a minute is one of an hour that begins with the minute `hour`, but not that one. */
function isWithin(minute: Column, hour: number): SQL {
  return sql`${minute} > ${hour} AND ${minute} < ${hour + HOUR_MINUTES}`
}
