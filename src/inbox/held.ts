import { and, type Column, gte, isNotNull, lt, type SQL, sql } from 'drizzle-orm'
import { connections } from './connections/schema'

/*
 * A paused connection holds its events: they keep their status, and `due_at` is a time that never comes, so that the sweep passes over
 * them, and no claim takes them. Each connection has such a time of its own, `held_as`: so the index of open events has the held events of
 * a connection in one place, in the order of their receipt, and its release reads no others.
 *
 * What may happen at the same time, and why nothing is lost or processed too early:
 * - A delivery is recorded while the connection is paused or resumed. The statement that inserts its events reads the status in the same
 *   transaction. What an isolate remembers decides nothing: recording checks the version of the connection.
 * - The event was recorded before the pause, and its message comes later. The claim refuses it, and the worker holds it.
 * - The event was claimed before the pause. It is finished. If that attempt fails, the next claim refuses it.
 * - The connection is resumed. The cron releases what is held as long as the connection is not paused. Only then may it be claimed.
 * - It is paused again meanwhile. It keeps `held_as`, and the cron stops releasing it. What was released and is not claimed is held again.
 * - `held_as` is removed by a statement that finds no event with it, of a connection that is not paused: so no event can be held any more.
 */

/** Values of `due_at` from here on are not times: 2⁵², which is the year 144,683. */
const HELD_FROM = 2 ** 52

type Row = Record<'project_id' | 'connection_id' | 'status' | 'due_at', Column>

const HELD = sql.raw(String(HELD_FROM))

/** The condition on an open event that it is held. */
export function onHold(row: Row): SQL {
  return gte(row.due_at, HELD)
}

/** The condition on an event that it is open and not held: as a range of the index of open events, or as a check. */
export function notOnHold(row: Row): SQL {
  return lt(row.due_at, HELD)
}

/** The status of an event as it is shown. */
export function statusShown(row: Row): SQL {
  return sql`CASE WHEN ${onHold(row)} THEN 'held' ELSE ${row.status} END`
}

/** Whether the connection of an event is paused. It reads no row of a connection that holds nothing. */
export function isPaused(row: Row): SQL {
  const { project_id, id, status, held_as } = connections
  return sql`EXISTS (SELECT 1 FROM ${connections} INDEXED BY connections_held
    WHERE ${project_id} = ${row.project_id} AND ${id} = ${row.connection_id} AND ${held_as} IS NOT NULL AND ${status} = 'paused')`
}

/** `due_at` of an event of a connection. @param due when it is due (ms) if the connection is not paused */
export function dueUnlessPaused(due: SQL | number): SQL<number> {
  return sql`CASE WHEN ${connections.status} = 'paused' THEN ${connections.held_as} ELSE ${due} END`
}

/** What {@link dueUnlessPaused} is, for an event that is read without its connection. */
export function dueOf(row: Row, due: number): SQL<number> {
  return sql`coalesce((SELECT ${connections.held_as} FROM ${connections}
    WHERE ${connections.id} = ${row.connection_id} AND ${connections.status} = 'paused'), ${due})`
}

/** `held_as` of a connection that is paused at a time (ms). It keeps one that it has. No other connection of the project has the same. */
export function heldAs(now: number): SQL<number> {
  const { project_id, held_as } = connections
  const others = sql`(SELECT max(c.held_as) FROM ${connections} c INDEXED BY connections_held
    WHERE c.project_id = ${project_id} AND c.held_as IS NOT NULL)`
  return sql`coalesce(${held_as}, max(${HELD_FROM + now}, coalesce(${others} + 1, 0)))`
}

/**
 * The connections that may hold events: FROM and WHERE. `share`: what each of them gets of so many rows that a statement may read.
 *
 * @param which of the connections
 */
export function holding(which: SQL | undefined, most: number) {
  const from = sql`${connections} INDEXED BY connections_held`
  const where = and(isNotNull(connections.held_as), which)
  return { from, where, share: sql`(SELECT CAST(${most} / max(1, count(*)) AS INTEGER) FROM ${from} WHERE ${where})` }
}

/** The condition on an event that a connection holds it, as a place in the index of open events. @param by the connection, by another alias */
export function onHoldBy(row: Row, by: Record<'project_id' | 'held_as', Column> = connections): SQL {
  return sql`${row.project_id} = ${by.project_id} AND ${row.due_at} = ${by.held_as}`
}
