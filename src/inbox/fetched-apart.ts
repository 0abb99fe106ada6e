import { type SQL, sql } from 'drizzle-orm'
import { THIN_TYPES } from '../vendors/stripe-thin'
import type { events } from './schema'
import { vendorKeys } from './vendor-api/schema'

/**
 * Whether the object of an event is to be fetched: its name is that of a thin event, and its connection has an API key. Such an event
 * belongs to the queue of fetches, because a vendor that hangs must not hold up the others.
 */
export function isFetchedApart(row: typeof events): SQL {
  const { project_id, connection_id } = vendorKeys
  return sql`(${row.event_type} GLOB ${sql.raw(`'${THIN_TYPES}'`)} AND EXISTS (SELECT 1 FROM ${vendorKeys}
    WHERE ${project_id} = ${row.project_id} AND ${connection_id} = ${row.connection_id}))`
}
