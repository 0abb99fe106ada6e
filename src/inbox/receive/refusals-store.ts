import { sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { old } from '../../db/old'
import { minutes } from '../schema'

/** Refused deliveries of a connection in a minute, of one cause. */
export type Refusals = { project_id: string; connection_id: string; minute: number; cause: string; n: number }

/** Adds counts of refused deliveries to their minutes. */
export async function addRefusals(db: Db, counts: readonly Refusals[]): Promise<void> {
  const list = JSON.stringify(counts)
  await old(db).all(sql`INSERT INTO ${minutes} (project_id, minute, connection_id, refused)
    SELECT j.value->>'project_id', j.value->>'minute', j.value->>'connection_id',
      json_group_object(j.value->>'cause', j.value->'n') FROM json_each(${list}) j WHERE true GROUP BY 1, 2, 3
    ON CONFLICT DO UPDATE SET refused = (SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v FROM
      (SELECT key, value FROM json_each(minutes.refused) UNION ALL SELECT key, value FROM json_each(excluded.refused)) GROUP BY key))`)
}
