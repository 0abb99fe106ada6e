import { eq, type SQL, sql } from 'drizzle-orm'
import { type Db, raw } from '../../db/client'
import { notOnHold, onHold } from '../held'
import type { Status } from '../lifecycle'
import { events, totals } from '../schema'
import { isDelivered } from '../sources'
import { MAX_OPEN_COUNTED } from './limits'

/** Counts the project's events by status: the final ones from their totals, of the open ones the first so many, and as many held ones. */
export function countByStatus(db: Db, projectId: string) {
  const first = (which: SQL) => sql`SELECT ${events.status} FROM ${events} INDEXED BY events_open
    WHERE ${events.project_id} = ${projectId} AND ${which} AND ${isDelivered(events.id)} LIMIT ${MAX_OPEN_COUNTED}`
  const n = sql<number>`count(*)`
  return {
    finals: db.select({ status: totals.status, n: totals.n }).from(totals).where(eq(totals.project_id, projectId)),
    open: raw(
      db,
      { status: sql<Status>`status`, n },
      (fields) => sql`SELECT ${fields} FROM (${first(notOnHold(events))}) GROUP BY 1`,
    ),
    held: raw(db, { n }, (fields) => sql`SELECT ${fields} FROM (${first(onHold(events))})`),
  }
}
