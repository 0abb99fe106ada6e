import { and, eq, sql } from 'drizzle-orm'
import type { Countable } from '../../billing/days/count'
import { MAX_MEASURED } from '../../billing/limits'
import { saidBy } from '../../billing/overdue/overdue'
import { billingObjects } from '../../billing/schema'
import { isUnlinked } from '../../consumers/links'
import type { Db, Query } from '../../db/client'

const o = billingObjects

/** What the body of a subscription says in a field. Of a row that is too large, nothing is read: see isOverdue. */
export const measured = (field: string) =>
  sql<string | null>`iif(octet_length(${o.candidates}) <= ${MAX_MEASURED}, ${saidBy(o, field)}, NULL)`

/** What is read of subscriptions to count them. */
export const COUNTABLE = {
  project_id: o.project_id,
  status: sql<string>`${o.status}`,
  livemode: sql<boolean>`coalesce(${saidBy(o, 'livemode')}, 1)`.mapWith(Boolean),
  created_at: measured('created_at'),
  // Some vendors do not say when a subscription ended: its last change is the end.
  ended_at: sql<string | null>`coalesce(${measured('ended_at')}, ${measured('updated_at')})`,
  past_due_since: sql<string | null>`${o.past_due_since}`,
  is_unlinked: isUnlinked(sql`${o.project_id}`, { vendor: sql`${o.vendor}`, customer: sql`${o.customer}` }).mapWith(
    Boolean,
  ),
}

const ofProject = (projectId: string) => and(eq(o.project_id, projectId), eq(o.kind, 'subscription'))

/** Reads the subscriptions of a project to count them. If it has more rows or bytes than the limits, it reads none and parses none. */
export function listCountable(
  db: Db,
  projectId: string,
  { rows, bytes }: { rows: number; bytes: number },
): Query<Countable[]> {
  const sizes = sql`SELECT octet_length(${o.candidates}) AS size FROM ${o} WHERE ${ofProject(projectId)} LIMIT ${rows + 1}`
  const areFew = sql`(SELECT count(*) <= ${rows} AND coalesce(sum(size), 0) <= ${bytes} FROM (${sizes}))`
  return db
    .select(COUNTABLE)
    .from(o)
    .where(and(ofProject(projectId), areFew))
}

/** Reads one subscription of a project, if there is any. */
export function firstSubscription(db: Db, projectId: string) {
  return db.select({ id: o.vendor_id }).from(o).where(ofProject(projectId)).limit(1)
}
