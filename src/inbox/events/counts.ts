import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../../db/client'
import { events, totals } from '../schema'
import { isDelivered } from '../sources'
import { MAX_OPEN_COUNTED } from './limits'

const open = alias(events, 'open')

/** Counts the project's events by status: the final ones from their totals, of the open ones the first so many. */
export function countByStatus(db: Db, projectId: string) {
  const isOpen = and(eq(events.project_id, projectId), isNotNull(events.due_at), isDelivered(events.id))
  return {
    finals: db.select({ status: totals.status, n: totals.n }).from(totals).where(eq(totals.project_id, projectId)),
    open: raw(
      db,
      { status: open.status, n: sql<number>`count(*)` },
      (fields) => sql`SELECT ${fields} FROM (
        SELECT ${events.status} FROM ${events} INDEXED BY events_open WHERE ${isOpen} LIMIT ${MAX_OPEN_COUNTED}) open
        GROUP BY ${open.status}`,
    ),
  }
}
