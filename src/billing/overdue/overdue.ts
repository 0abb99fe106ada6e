import { and, type Column, eq, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { DAY } from '../../lib/time'
import { MAX_MEASURED } from '../limits'
import { overdueSubscriptions } from './schema'

/** How long after its period a subscription becomes overdue (ms). By default, its access lasts twice as long. */
export const OVERDUE_AFTER = DAY

/** The columns of `billing_objects`, or of an alias of it. */
type Columns = Record<'project_id' | 'kind' | 'vendor' | 'vendor_id' | 'status' | 'candidates' | 'updated', Column>

/** A field of the state that the winning event gives an object. */
export const saidBy = ({ candidates }: Pick<Columns, 'candidates'>, field: string) =>
  sql`${candidates}->>${sql.raw(`'$[0].body.${field}'`)}`

/** A time as text, without its `Z`: such times sort as text. */
const before = (now: number) => new Date(now).toISOString().slice(0, -1)

/**
 * Whether a subscription in live mode should have renewed at least a day ago, and nothing has been received about it since, as an expression over
 * the columns of its object. A subscription that will be canceled or paused does not renew. A very large row counts as not overdue, because reading
 * it would hold up the database.
 */
export function isOverdue(of: Columns, now: number): SQL {
  const said = (field: string) => saidBy(of, field)
  const period_end = sql`rtrim(${said('current_period_end')}, 'Z')`
  const can_renew = and(
    eq(of.kind, 'subscription'),
    inArray(of.status, ['active', 'trialing', 'past_due']),
    sql`octet_length(${of.candidates}) <= ${MAX_MEASURED}`,
    sql`coalesce(${said('livemode')}, 1) = 1`,
    sql`coalesce(${said('cancel_at_period_end')}, 0) = 0`,
    sql`coalesce(${said('scheduled_change.action')}, '') NOT IN ('cancel', 'pause')`,
    isNull(said('paused_at')),
    sql`(${said('cancel_at')} IS NULL OR rtrim(${said('cancel_at')}, 'Z') > ${before(now)})`,
  )
  // The vendor's last change was in the period that has ended.
  return and(can_renew, lte(period_end, before(now - OVERDUE_AFTER)), lte(of.updated, period_end)) as SQL
}

/** Whether a subscription was overdue in the cron's last walk and still is. The second question reads the row, so it is asked of few rows. */
export function isKnownOverdue(of: Columns, now: number): SQL {
  const isOne = and(
    eq(overdueSubscriptions.project_id, of.project_id),
    eq(overdueSubscriptions.vendor, of.vendor),
    eq(overdueSubscriptions.vendor_id, of.vendor_id),
  )
  return sql`(EXISTS (SELECT 1 FROM ${overdueSubscriptions} WHERE ${isOne}) AND ${isOverdue(of, now)})`
}
