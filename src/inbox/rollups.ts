import { and, type Column, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm'
import { bare, timeIn } from '../db/sql'
import { MINUTE } from '../lib/time'
import { fewerRowsFrom } from './fewer-rows'
import { notOnHold, onHold } from './held'
import { MAX_OPEN_RECEIVED } from './limits'
import { events, minutes } from './schema'
import { isDelivered } from './sources'

/** Minutes since the epoch; `to` is exclusive. */
export type Minutes = { from: number; to: number }

/**
 * What a project received in a range of minutes, as a subquery with the rows of `minutes`, which are to be added up. Stored
 * rows count events that became final. Open events that have never been final get rows of their own, in which they are received and
 * nothing else. Only the first {@link MAX_OPEN_RECEIVED} open events are looked at, and as many held ones, the newest.
 *
 * @param stored FROM and WHERE: which rows of `minutes`, if not all of the range
 */
export function rollups(projectId: string, range: Minutes, connectionId: string | null, stored?: SQL): SQL {
  const within = and(eq(minutes.project_id, projectId), gte(minutes.minute, range.from), lt(minutes.minute, range.to))
  const columns = Object.values(getTableColumns(minutes))
  const rows = sql`SELECT ${sql.join(columns, sql`, `)} ${stored ?? sql`FROM ${minutes} WHERE ${within}`}`
  return sql`(${rows} UNION ALL ${received(projectId, range, connectionId, columns)}) ${sql.identifier('minutes')}`
}

function received(projectId: string, range: Minutes, connectionId: string | null, columns: readonly Column[]): SQL {
  // The limit comes before the connection, so that a busy other connection cannot make this read all its open events.
  const some = (which: SQL, order: SQL) => sql`SELECT * FROM (
    SELECT ${events.connection_id} AS connection_id, ${events.replay_id} AS replay_id, ${timeIn(events.id)} AS received_at
    FROM ${events} INDEXED BY events_open WHERE ${and(eq(events.project_id, projectId), which, isDelivered(events.id))}
    ${order} LIMIT ${MAX_OPEN_RECEIVED})`
  const newest = sql`ORDER BY ${events.due_at} DESC, ${events.id} DESC`
  const open = sql`${some(notOnHold(events), sql``)} UNION ALL ${some(onHold(events), newest)}`
  const isOwn = connectionId === null ? sql`true` : sql`connection_id = ${connectionId}`
  const grouped = sql`SELECT connection_id, received_at / ${sql.raw(String(MINUTE))} AS minute, count(*) AS n FROM (${open})
    WHERE replay_id IS NULL AND ${isOwn} AND received_at >= ${fewerRowsFrom} GROUP BY 1, 2`
  const values: Record<string, SQL> = {
    project_id: sql`${projectId}`,
    minute: sql`minute`,
    connection_id: sql`connection_id`,
    received: sql`n`,
    refused: sql`'{}'`,
    lag: sql`'{}'`,
  }
  const row = columns.map((column) => sql`${values[column.name] ?? sql`0`} AS ${bare(column)}`)
  return sql`SELECT ${sql.join(row, sql`, `)} FROM (${grouped}) WHERE minute >= ${range.from} AND minute < ${range.to}`
}
