import { sql } from 'drizzle-orm'
import { type Db, run } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { addUpCounts } from '../../db/upsert'
import { projects } from '../../tenancy/schema'
import { minutes } from '../schema'

/** Deliveries of a connection that were refused in a minute (since the epoch), for one cause. */
export type Refusals = { project_id: string; connection_id: string; minute: number; cause: string; n: number }

/** Adds counts of refused deliveries to their minutes, except those of connections whose project is deleted. */
export async function addRefusals(db: Db, counts: readonly Refusals[]): Promise<void> {
  const row = {
    project_id: sql`j.value->>'project_id'`,
    minute: sql`j.value->>'minute'`,
    connection_id: sql`j.value->>'connection_id'`,
    refused: sql`json_group_object(j.value->>'cause', j.value->'n')`,
  }
  const known = sql`EXISTS (SELECT 1 FROM ${projects} WHERE ${projects.id} = ${row.project_id} AND ${projects.deleted_at} IS NULL)`
  const each = sql`FROM json_each(${JSON.stringify(counts)}) j WHERE ${known} GROUP BY 1, 2, 3`
  await run(db, insertFrom(db, minutes, row, sql`${each} ON CONFLICT DO UPDATE SET ${addUpCounts(minutes.refused)}`))
}
