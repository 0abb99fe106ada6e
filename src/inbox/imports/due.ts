import { and, isNull, lte, not, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { within } from '../../lib/within'
import { isDeleted } from '../../tenancy/project'
import { SEND_WITHIN_MS } from '../process/limits'
import { MAX_RESENT, OVERDUE_MS } from './limits'
import type { ImportKey, ImportMessage } from './message'
import { vendorRuns } from './schema'

const r = alias(vendorRuns, 'r')

/** Sends again the pages of imports that are overdue and that no worker reads. This finds what the Queue has lost. */
export async function resendImports({ db, fetches, now }: Runtime): Promise<void> {
  const overdue = await takeOverdue(db, now)
  if (overdue.length === 0) return
  const messages = overdue.map((key) => ({
    body: { what: 'import', ...key } satisfies ImportMessage,
    contentType: 'json' as const,
  }))
  await within(SEND_WITHIN_MS, fetches.sendBatch(messages))
  writeLog('info', 'imports_resent', { imports: overdue.length })
}

/** They are due now, so that the next run leaves them to the Queue. */
function takeOverdue(db: Db, now: number): Promise<ImportKey[]> {
  const isFree = or(isNull(r.lease_until), lte(r.lease_until, now))
  const overdue = sql`SELECT ${r.project_id}, ${r.id} FROM ${vendorRuns} ${r} INDEXED BY vendor_runs_due
    WHERE ${and(lte(r.due_at, now - OVERDUE_MS), isFree, not(isDeleted(r.project_id)))} ORDER BY ${r.due_at} LIMIT ${MAX_RESENT}`
  return run(
    db,
    db
      .update(vendorRuns)
      .set({ due_at: now })
      .where(sql`(${vendorRuns.project_id}, ${vendorRuns.id}) IN (${overdue})`)
      .returning({ project_id: vendorRuns.project_id, import_id: vendorRuns.id }),
  )
}
