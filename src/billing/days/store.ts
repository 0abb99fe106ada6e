import { and, asc, eq, gte, lt, sql } from 'drizzle-orm'
import type { Db, Query } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { replaced } from '../../db/upsert'
import type { Sum } from './count'
import { billingDays } from './schema'

/** Days after which the numbers of a day are deleted. */
export const DAYS_KEPT = 400

export type BillingDay = typeof billingDays.$inferSelect

/**
 * Notes the numbers of projects whose subscriptions have all been read. Those of the day replace what an earlier walk has noted. Of
 * the day before, the walk only knows what happened, so a day that was never counted gets no row. Deletes old days of these projects.
 *
 * @param at.today days since 1970
 */
export function noteDays(db: Db, sums: readonly Sum[], { today, now }: { today: number; now: number }) {
  const { project_id, livemode, day, active, trialing, past_due, unlinked, created, lost, failed, counted_at } =
    billingDays
  const list = sql`json_each(${JSON.stringify(sums)}) j`
  const of = (path: string) => sql`j.value->>${sql.raw(`'$.${path}'`)}`
  const row = {
    project_id: of('project_id'),
    livemode: of('livemode'),
    day: sql`CAST(${today} AS INTEGER)`,
    active: of('active'),
    trialing: of('trialing'),
    past_due: of('past_due'),
    unlinked: of('unlinked'),
    created: of('today.created'),
    lost: of('today.lost'),
    failed: of('today.failed'),
    counted_at: sql`CAST(${now} AS INTEGER)`,
  }
  const noted: Query<void> = insertFrom(
    db,
    billingDays,
    row,
    sql`FROM ${list} WHERE true ON CONFLICT DO UPDATE SET ${replaced(active, trialing, past_due, unlinked, created, lost, failed, counted_at)}`,
  )
  const isOfSum = and(eq(project_id, of('project_id')), eq(livemode, of('livemode')))
  const corrected = db
    .update(billingDays)
    .set({ created: of('yesterday.created'), lost: of('yesterday.lost'), failed: of('yesterday.failed') })
    .from(list)
    .where(and(isOfSum, eq(day, today - 1)))
  const old = db
    .delete(billingDays)
    .where(
      and(
        sql`(${project_id}, ${livemode}) IN (SELECT ${of('project_id')}, ${of('livemode')} FROM ${list})`,
        lt(day, today - DAYS_KEPT),
      ),
    )
  return { noted, corrected, old }
}

/**
 * Reads the days of a project since one, the earliest first.
 *
 * @param mode the mode; if undefined, live mode, or test mode if the project never had a subscription in live mode
 */
export function readDays(db: Db, projectId: string, since: number, mode: boolean | undefined) {
  const { project_id, livemode, day } = billingDays
  const first = sql`(SELECT max(livemode) FROM ${billingDays} WHERE project_id = ${projectId})`
  return db
    .select()
    .from(billingDays)
    .where(and(eq(project_id, projectId), eq(livemode, mode === undefined ? first : Number(mode)), gte(day, since)))
    .orderBy(asc(day))
}
