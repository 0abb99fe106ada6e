import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../../db/client'
import { json, timeIn } from '../../db/sql'
import { totalOf } from '../../db/total'
import { DAY } from '../../lib/time'
import type { EventErrorCode } from '../../vendors/event-errors'
import { connections } from '../connections/schema'
import type { EventRow } from '../events/events'
import { events } from '../schema'
import { isDelivered } from '../sources'
import { MAX_FAILURE_CAUSES, MAX_FAILURES } from './limits'

/** Failed events with one cause: the connection and the kind of error. */
export type CauseRow = {
  connection_id: string
  name: string
  vendor: string
  livemode: boolean
  last_error_code: EventErrorCode | null
  n: number
  /** The ids of the oldest and of the newest of these events, which hold the times of receipt. */
  first: string
  last: string
  /** The error of the newest. */
  last_error: string | null
  /** How many were received on each day, by days since 1970 (UTC). */
  days: Record<string, number>
}

export const e = alias(events, 'e')

/** FROM and WHERE: the failed events `e` of a project. */
export const failedOf = (project: string) => sql`FROM ${events} e INDEXED BY events_ended
  WHERE ${e.project_id} = ${project} AND ${e.status} = 'failed' AND ${e.due_at} IS NULL AND ${e.status} <> 'processed'
    AND ${isDelivered(e.id)}`

/** Counts the failed events with the cause of one, up to a bound: see {@link totalOf}. */
export function countCause(db: Db, of: Pick<EventRow, 'project_id' | 'connection_id' | 'last_error_code'>) {
  const n = totalOf({
    walk: (columns) => sql`SELECT ${columns} ${failedOf(of.project_id)}`,
    as: e,
    columns: sql`${e.connection_id}, ${e.last_error_code}`,
    rest: sql`${e.connection_id} = ${of.connection_id} AND ${e.last_error_code} = ${of.last_error_code}`,
  })
  return raw(db, { n }, (fields) => sql`SELECT ${fields}`)
}

/** The newest failed events of a project by cause, those causes with the most events first. */
export function listCauses(db: Db, project: string) {
  const newest = sql`SELECT ${e.id} AS id, ${e.connection_id} AS connection_id, ${e.last_error_code} AS code
    ${failedOf(project)} ORDER BY ${e.id} DESC LIMIT ${MAX_FAILURES}`
  // D1 binds every number as REAL, by which a division would not be whole.
  const days = sql`SELECT connection_id, code, ${timeIn(sql`id`)} / ${sql.raw(String(DAY))} AS day, count(*) AS n, min(id) AS first, max(id) AS last
    FROM (${newest}) GROUP BY 1, 2, 3`
  const causes = sql`SELECT connection_id, code, sum(n) AS n, min(first) AS first, max(last) AS last,
      json_group_object(day, n) AS days
    FROM (${days}) GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC LIMIT ${MAX_FAILURE_CAUSES}`
  const fields = {
    connection_id: connections.id,
    name: connections.name,
    vendor: connections.vendor,
    livemode: connections.livemode,
    last_error_code: e.last_error_code,
    n: sql<number>`t.n`,
    first: sql<string>`t.first`,
    last: sql<string>`t.last`,
    last_error: e.last_error,
    days: json<Record<string, number>>(sql`t.days`),
  }
  return raw(
    db,
    fields,
    (list) => sql`SELECT ${list} FROM (${causes}) t
      CROSS JOIN ${events} e ON ${e.project_id} = ${project} AND ${e.id} = t.last
      CROSS JOIN ${connections} ON ${eq(connections.id, sql`t.connection_id`)}
      ORDER BY t.n DESC, t.last DESC`,
  )
}

/** Whether there may be more failed events, or more causes, than {@link listCauses} lists. */
export function isCut(rows: readonly Pick<CauseRow, 'n'>[]): boolean {
  return rows.length === MAX_FAILURE_CAUSES || rows.reduce((sum, { n }) => sum + n, 0) >= MAX_FAILURES
}
