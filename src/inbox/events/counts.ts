import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { type Db, raw } from '../../db/client'
import { statusShown } from '../held'
import type { ShownStatus } from '../lifecycle'
import { events, totals } from '../schema'
import { isDelivered } from '../sources'
import { MAX_OPEN_COUNTED } from './limits'

/** Counts the project's events by status: the final ones from their totals, of the open ones the first so many. */
export function countByStatus(db: Db, projectId: string) {
  const isOpen = and(eq(events.project_id, projectId), isNotNull(events.due_at), isDelivered(events.id))
  return {
    finals: db.select({ status: totals.status, n: totals.n }).from(totals).where(eq(totals.project_id, projectId)),
    open: raw(
      db,
      { status: sql<ShownStatus>`status`, n: sql<number>`count(*)` },
      (fields) => sql`SELECT ${fields} FROM (
        SELECT ${statusShown(events)} AS status FROM ${events} INDEXED BY events_open WHERE ${isOpen} LIMIT ${MAX_OPEN_COUNTED}) open
        GROUP BY 1`,
    ),
  }
}
