import { sql } from 'drizzle-orm'
import { type Db, rawWrite } from '../../db/client'
import { bare } from '../../db/sql'
import { vendorOf } from '../../vendors'
import { hasKey } from '../doubts/note'
import { vendorDoubts } from '../doubts/schema'

type Key = { project_id: string; vendor: string; vendor_id: string }

/** Has the vendors asked for these subscriptions, where the project has an API key that works. */
export function askForOverdue(db: Db, found: readonly Key[], now: number) {
  const asked = found.filter(({ vendor }) => vendorOf(vendor)?.api !== undefined)
  const of = (name: string) => sql.raw(`j.value->>'${name}'`)
  const { project_id, vendor, kind, object_id, due_at, tries } = vendorDoubts
  return rawWrite(
    db,
    sql`INSERT INTO ${vendorDoubts} (${bare(project_id, vendor, kind, object_id, due_at, tries)})
      SELECT ${of('project_id')}, ${of('vendor')}, 'subscription', ${of('vendor_id')}, CAST(${now} AS INTEGER), 0
      FROM json_each(${JSON.stringify(asked)}) j WHERE ${hasKey(of('project_id'), of('vendor'))}
      ON CONFLICT DO NOTHING`,
  )
}
