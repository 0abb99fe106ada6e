import { and, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { batch, type Db } from '../db/client'
import { deleteSome } from '../db/delete-some'
import type { PassStep } from '../tenancy/pass'
import { CLOSED_AT_ONCE, CLOSED_KEPT } from './limits'
import { type NoticeKind, notices } from './schema'

/** For each kind, whether the matter of a notice is over, as an expression over the row of `notices`. */
export type Over = Record<NoticeKind, SQL>

/**
 * Closes what is over of the next open notices of the store. What was not mailed by then is not mailed any more.
 *
 * @param after the notice that the last step came to, as it says; empty: none
 */
export async function closeOver(db: Db, over: Over, after: string, now: number): Promise<PassStep> {
  const [project = '', id = ''] = after.split(' ')
  const some = sql`SELECT ${notices.project_id}, ${notices.id} FROM ${notices} INDEXED BY notices_open
    WHERE ${notices.closed_at} IS NULL AND (${notices.project_id}, ${notices.id}) > (${project}, ${id})
    ORDER BY ${notices.project_id}, ${notices.id} LIMIT ${CLOSED_AT_ONCE}`
  const cases = Object.entries(over).map(([kind, is]) => sql`WHEN ${sql.raw(`'${kind}'`)} THEN ${is}`)
  const isOver = sql`CASE ${notices.kind} ${sql.join(cases, sql` `)} END`
  const { next, closed } = await batch(db, {
    next: db
      .select({ project_id: notices.project_id, id: notices.id })
      .from(notices)
      .where(sql`(${notices.project_id}, ${notices.id}) IN (${some})`)
      .orderBy(notices.project_id, notices.id),
    closed: db
      .update(notices)
      .set({ closed_at: now, mail_due_at: null })
      .where(and(sql`(${notices.project_id}, ${notices.id}) IN (${some})`, isNull(notices.closed_at), isOver))
      .returning({ id: notices.id }),
  })
  const last = next.at(-1)
  const isDone = !last || next.length < CLOSED_AT_ONCE
  return { done: closed.length, after: isDone ? null : `${last.project_id} ${last.id}` }
}

/** Deletes `most` of the notices that were closed long ago. @returns how many */
export function purgeNotices(db: Db, now: number, most: number) {
  const where = and(sql`${notices.closed_at} IS NOT NULL`, lt(notices.closed_at, now - CLOSED_KEPT)) as SQL
  return deleteSome(db, notices, { key: [notices.project_id, notices.id], where, most })
}
