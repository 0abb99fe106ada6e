import { and, eq, gte, type SQL, sql } from 'drizzle-orm'
import { renewalCounts } from '../../billing/overdue/schema'
import type { Db } from '../../db/client'
import { noticesOpened } from '../../notices/open'
import type { notices } from '../../notices/schema'
import { MISSING } from './limits'

const { project_id, vendor, due, overdue, walk, next_due, next_overdue } = renewalCounts

/** Whether so many renewals of a vendor are missing that deliveries may be missing, too. */
const isMissing = and(
  gte(overdue, MISSING.least),
  gte(sql`${overdue} * ${sql.raw(String(MISSING.one_in))}`, due),
) as SQL

/** The counts of a finished walk replace the earlier ones. A vendor without subscriptions has none. */
export function countsKept(db: Db, done: number) {
  const counted = sql`iif(${walk} = ${done}, ${next_due}, 0)`
  const ofThese = sql`iif(${walk} = ${done}, ${next_overdue}, 0)`
  return db
    .update(renewalCounts)
    .set({ due: counted, overdue: ofThese })
    .where(sql`(${due}, ${overdue}) IS NOT (${counted}, ${ofThese})`)
}

/** Opens a notice for each vendor whose renewals are missing, in each project of the store. */
export function missingTold(db: Db, now: number) {
  const facts = sql`json_object('vendor', ${vendor}, 'overdue', ${overdue}, 'due', ${due})`
  const opening = { project_id, kind: sql`'renewals_missing'`, object_id: vendor, facts }
  return noticesOpened(db, opening, sql`FROM ${renewalCounts} WHERE ${isMissing}`, now)
}

/** Reads the vendors of a project with missing renewals, and how many of how many are missing. */
export function findMissing(db: Db, projectId: string) {
  return db
    .select({ vendor, overdue, due })
    .from(renewalCounts)
    .where(and(eq(project_id, projectId), isMissing))
}

/** Whether the renewals of a vendor that a notice is about are no longer missing. */
export function isMissingNoMore({ project_id: of, object_id }: Pick<typeof notices, 'project_id' | 'object_id'>): SQL {
  const ofNotice = and(eq(project_id, of), eq(vendor, object_id), isMissing)
  return sql`NOT EXISTS (SELECT 1 FROM ${renewalCounts} WHERE ${ofNotice})`
}
