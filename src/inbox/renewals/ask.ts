import { and, eq, sql } from 'drizzle-orm'
import { overdueSubscriptions } from '../../billing/overdue/schema'
import { type Db, rawWrite } from '../../db/client'
import { bare } from '../../db/sql'
import { vendorOf } from '../../vendors'
import { hasKey } from '../doubts/note'
import { vendorDoubts } from '../doubts/schema'

type Overdue = { project_id: string; vendor: string; vendor_id: string; period_end: string | null }

/** Makes the service ask the vendor for subscriptions that have just become overdue, if the project has a working API key. */
export function askForOverdue(db: Db, found: readonly Overdue[], now: number) {
  const asked = found.filter(({ vendor }) => vendorOf(vendor)?.api !== undefined)
  const of = (name: string) => sql.raw(`j.value->>'${name}'`)
  const { project_id, vendor, kind, object_id, due_at, tries } = vendorDoubts
  const wasOverdue = and(
    eq(overdueSubscriptions.project_id, of('project_id')),
    eq(overdueSubscriptions.vendor, of('vendor')),
    eq(overdueSubscriptions.vendor_id, of('vendor_id')),
    eq(overdueSubscriptions.period_end, of('period_end')),
  )
  return rawWrite(
    db,
    sql`INSERT INTO ${vendorDoubts} (${bare(project_id, vendor, kind, object_id, due_at, tries)})
      SELECT ${of('project_id')}, ${of('vendor')}, 'subscription', ${of('vendor_id')}, CAST(${now} AS INTEGER), 0
      FROM json_each(${JSON.stringify(asked)}) j WHERE ${hasKey(of('project_id'), of('vendor'))} AND NOT EXISTS (SELECT 1 FROM ${overdueSubscriptions} WHERE ${wasOverdue})
      ON CONFLICT DO NOTHING`,
  )
}
