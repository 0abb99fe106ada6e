import { sql } from 'drizzle-orm'
import { type Db, rawWrite, run } from '../../db/client'
import { bare } from '../../db/sql'
import { minutes } from '../schema'

/** Deliveries of a connection that were refused in a minute (since the epoch), for one cause. */
export type Refusals = { project_id: string; connection_id: string; minute: number; cause: string; n: number }

/** Adds counts of refused deliveries to their minutes. */
export async function addRefusals(db: Db, counts: readonly Refusals[]): Promise<void> {
  const refused = bare(minutes.refused)
  const both = sql`SELECT key, value FROM json_each(${minutes.refused})
    UNION ALL SELECT key, value FROM json_each(excluded.${refused})`
  await run(
    db,
    rawWrite(
      db,
      sql`INSERT INTO ${minutes} (${bare(minutes.project_id, minutes.minute, minutes.connection_id, minutes.refused)})
        SELECT j.value->>'project_id', j.value->>'minute', j.value->>'connection_id',
          json_group_object(j.value->>'cause', j.value->'n')
        FROM json_each(${JSON.stringify(counts)}) j WHERE true GROUP BY 1, 2, 3
        ON CONFLICT DO UPDATE SET ${refused} =
          (SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v FROM (${both}) GROUP BY key))`,
    ),
  )
}
