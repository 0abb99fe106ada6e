import { and, desc, eq, isNull, notExists, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { literals } from '../../db/sql'
import { THIN_EVENTS } from '../../vendors/thin'
import { connections } from '../connections/schema'
import { isNamedAs } from '../fetched-apart'
import { events } from '../schema'
import { isDelivered } from '../sources'
import { vendorKeys } from '../vendor-api/schema'
import { LOOKED_FOR_THIN } from './limits'

const e = alias(events, 'e')

/**
 * Reads the names of active connections whose newest events include thin ones that were ignored, though their objects would become state:
 * the connection has no API key to fetch them with.
 */
export function findThinWithoutKey(db: Db, projectId: string) {
  const { id, project_id, vendor, status, name, deleted_at } = connections
  const key = db
    .select({ one: sql`1` })
    .from(vendorKeys)
    .where(and(eq(vendorKeys.project_id, project_id), eq(vendorKeys.connection_id, id)))
  const newest = sql`SELECT ${e.event_type} AS type, ${e.status} AS status, ${e.summary} AS summary FROM ${events} ${e} INDEXED BY events_connection
    WHERE ${and(eq(e.connection_id, id), isDelivered(e.id))} ORDER BY ${desc(e.id)} LIMIT ${LOOKED_FOR_THIN}`
  const thin = THIN_EVENTS.map(([name, events]) => {
    const isOne = sql`status = 'ignored' AND ${isNamedAs(sql`type`, events)} AND summary->>'$.object.type' IN (${literals(events.objects)})`
    return and(eq(vendor, name), sql`EXISTS (SELECT 1 FROM (${newest}) WHERE ${isOne})`)
  })
  const live = and(eq(project_id, projectId), isNull(deleted_at), eq(status, 'active'))
  return db
    .select({ name })
    .from(connections)
    .where(and(live, notExists(key), or(...thin)))
    .orderBy(id)
}
