import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { literals } from '../db/sql'
import type { ThinEvents } from '../vendors/calls'
import { THIN_EVENTS } from '../vendors/thin'
import { connections } from './connections/schema'
import type { events } from './schema'
import { vendorKeys } from './vendor-api/schema'

/** Whether an event has one of these names. @param type its name, as an expression */
export function isNamedAs(type: SQL, { names }: Pick<ThinEvents, 'names'>): SQL {
  const one = names.map((name) => sql`${type} GLOB ${literals([name])}`)
  return sql`(${sql.join(one, sql` OR `)})`
}

/**
 * Whether the object of an event is to be fetched: its name is that of a thin event of its vendor, and its connection has an API key.
 * Such an event belongs to the queue of fetches, because a vendor that hangs must not hold up the others.
 */
export function isFetchedApart(row: typeof events): SQL {
  const { project_id, connection_id } = vendorKeys
  const type = sql`${row.event_type}`
  // The names alone tell most events apart: for those, no other row is read.
  const isAny = isNamedAs(type, { names: THIN_EVENTS.flatMap(([, { names }]) => names) })
  const isOf = THIN_EVENTS.map(([vendor, thin]) =>
    and(sql`${connections.vendor} = ${literals([vendor])}`, isNamedAs(type, thin)),
  )
  const isConnection = and(eq(connections.id, connection_id), eq(connections.project_id, project_id))
  return sql`(${isAny} AND EXISTS (SELECT 1 FROM ${vendorKeys} CROSS JOIN ${connections} ON ${isConnection}
    WHERE ${project_id} = ${row.project_id} AND ${connection_id} = ${row.connection_id} AND (${or(...isOf)})))`
}
