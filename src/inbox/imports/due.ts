import { and, isNull, lte, not, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { writeLog } from '../../http/log'
import { isDeleted } from '../../tenancy/project'
import { sendFetches } from '../fetches/send'
import { MAX_RESENT, OVERDUE_MS } from './limits'
import type { ImportKey, ImportMessage } from './message'
import { vendorRuns } from './schema'

const r = alias(vendorRuns, 'r')

/** Sends the messages of pages again that the Queue has lost. @param overdue what {@link takeOverdue} found */
export async function resendImports(queue: Queue<unknown>, overdue: readonly ImportKey[]): Promise<void> {
  if (overdue.length === 0) return
  await sendFetches(
    queue,
    overdue.map((key): ImportMessage => ({ what: 'import', ...key })),
  )
  writeLog('info', 'imports_resent', { imports: overdue.length })
}

/**
 * Takes the imports whose next page is overdue and that no worker reads. They are due now, so that the next run leaves them to the
 * Queue.
 */
export function takeOverdue(db: Db, now: number) {
  const isFree = or(isNull(r.lease_until), lte(r.lease_until, now))
  const overdue = sql`SELECT ${r.project_id}, ${r.id} FROM ${vendorRuns} ${r} INDEXED BY vendor_runs_due
    WHERE ${and(lte(r.due_at, now - OVERDUE_MS), isFree, not(isDeleted(r.project_id)))} ORDER BY ${r.due_at} LIMIT ${MAX_RESENT}`
  return db
    .update(vendorRuns)
    .set({ due_at: now })
    .where(sql`(${vendorRuns.project_id}, ${vendorRuns.id}) IN (${overdue})`)
    .returning({ project_id: vendorRuns.project_id, import_id: vendorRuns.id })
}
