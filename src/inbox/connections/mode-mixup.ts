import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { events } from '../schema'
import { isDelivered } from '../sources'
import { LOOKED_FOR_MODE } from './limits'
import { connections } from './schema'

const e = alias(events, 'e')

/**
 * Reads the active connections of which one of the newest events says that it is of the other mode. Such a connection has the wrong mode, or
 * receives the events of the wrong account.
 */
export function findModeMixups(db: Db, projectId: string) {
  const { id, project_id, name, livemode, status, deleted_at } = connections
  const newest = sql`SELECT ${e.summary} AS summary FROM ${events} ${e} INDEXED BY events_connection
    WHERE ${and(eq(e.connection_id, id), isDelivered(e.id))} ORDER BY ${desc(e.id)} LIMIT ${LOOKED_FOR_MODE}`
  const isOther = sql`EXISTS (SELECT 1 FROM (${newest}) WHERE summary->>'$.livemode' = 1 - ${livemode})`
  return db
    .select({ name, livemode })
    .from(connections)
    .where(and(eq(project_id, projectId), isNull(deleted_at), eq(status, 'active'), isOther))
    .orderBy(id)
}
