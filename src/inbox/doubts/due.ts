import { and, lte, not, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../../db/client'
import { writeLog } from '../../http/log'
import { isDeleted } from '../../tenancy/project'
import { MAX_DOUBTFUL_PROJECTS } from './limits'
import { sendDoubts } from './message'
import { vendorDoubts } from './schema'

const d = alias(vendorDoubts, 'd')

/** Sends a message for each project with objects that are due: for the later tries, and for what the Queue has lost. */
export async function resendDoubts(queue: Queue<unknown>, projects: readonly { id: string }[]): Promise<void> {
  if (projects.length === 0) return
  await sendDoubts(
    queue,
    projects.map(({ id }) => id),
    0,
  )
  writeLog('info', 'doubts_resent', { projects: projects.length })
}

/**
 * Reads the projects that have an object which is due and that nobody asks for. They are found by skipping from one to the next in the
 * index, so that a project with many objects takes no more of a run than one with a single object.
 */
export function findDoubtful(db: Db, now: number) {
  const next = (after: ReturnType<typeof sql>) =>
    sql`SELECT min(${d.project_id}) FROM ${vendorDoubts} ${d} INDEXED BY vendor_doubts_due ${after}`
  const isDue = and(sql`${d.project_id} = p.id`, lte(d.due_at, now), lte(d.lease_until, now))
  return raw(
    db,
    { id: sql<string>`p.id` },
    (fields) => sql`WITH RECURSIVE p(id) AS (
        ${next(sql``)} UNION ALL SELECT (${next(sql`WHERE ${d.project_id} > p.id`)}) FROM p WHERE p.id IS NOT NULL
        LIMIT ${MAX_DOUBTFUL_PROJECTS})
      SELECT ${fields} FROM p WHERE p.id IS NOT NULL AND ${not(isDeleted(sql`p.id`))}
        AND EXISTS (SELECT 1 FROM ${vendorDoubts} ${d} INDEXED BY vendor_doubts_due WHERE ${isDue})`,
  )
}
