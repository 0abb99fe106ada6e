import { and, type Column, eq, getTableColumns, gte, lt, type SQL, sql } from 'drizzle-orm'
import { bare, timeIn } from '../db/sql'
import { MINUTE } from '../lib/time'
import { connections } from './connections/schema'
import { fewerRowsFrom } from './fewer-rows'
import { holding, notOnHold, onHoldBy } from './held'
import { MAX_OPEN_RECEIVED } from './limits'
import { events, minutes } from './schema'
import { isDelivered } from './sources'

/** Minutes since the epoch; `to` is exclusive. */
export type Minutes = { from: number; to: number }

/**
 * What a project received in a range of minutes, as a subquery with the rows of `minutes`, which are to be added up. Stored
 * rows count events that became final. Open events that have never been final get rows of their own, in which they are received and
 * nothing else. Only the first {@link MAX_OPEN_RECEIVED} open events are looked at, and as many held ones.
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
  const receivedAt = sql`CASE WHEN ${events.replay_id} IS NULL THEN ${timeIn(events.id)} END AS received_at`
  // The limit comes before the connection, so that a busy other connection cannot make this read all its open events.
  const open = sql`SELECT * FROM (SELECT ${events.connection_id} AS connection_id, ${receivedAt} FROM ${events} INDEXED BY events_open
    WHERE ${and(eq(events.project_id, projectId), notOnHold(events), isDelivered(events.id))} LIMIT ${MAX_OPEN_RECEIVED})`
  const isOwn = connectionId === null ? sql`true` : sql`connection_id = ${connectionId}`
  const grouped = sql`SELECT connection_id, received_at / ${sql.raw(String(MINUTE))} AS minute, count(*) AS n
    FROM (${open} UNION ALL ${heldOf(projectId, connectionId, receivedAt)})
    WHERE ${isOwn} AND received_at >= ${fewerRowsFrom} GROUP BY 1, 2`
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

/** The newest held events of each connection: they share {@link MAX_OPEN_RECEIVED} evenly. */
function heldOf(projectId: string, connectionId: string | null, receivedAt: SQL): SQL {
  const isAsked = connectionId === null ? undefined : eq(connections.id, connectionId)
  const { from, where, share } = holding(and(eq(connections.project_id, projectId), isAsked), MAX_OPEN_RECEIVED)
  // As one value of each connection: its limit is its own.
  const times = sql`(SELECT json_group_array(received_at) FROM (SELECT ${receivedAt} FROM ${events} INDEXED BY events_open
    WHERE ${onHoldBy(events)} AND ${isDelivered(events.id)} ORDER BY ${events.id} DESC LIMIT ${share}))`
  return sql`SELECT ${connections.id}, j.value FROM ${from} CROSS JOIN json_each(${times}) j WHERE ${where}`
}
