import { sql } from 'drizzle-orm'
import { apiKeys } from '../../../api-keys/schema'
import type { Db } from '../../../db/client'
import { old } from '../../../db/old'
import { users } from '../../../sessions/schema'

/** Who did something, by the name of a key (revoked ones too) or the address of a user. Who is in neither is missing. */
export async function namesOf(db: Db, projectId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const wanted = sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  const rows = await old(db).all(sql<{ id: string; name: string }>`
    SELECT id, name FROM ${apiKeys} WHERE project_id = ${projectId} AND ${wanted}
    UNION ALL SELECT id, email FROM ${users} WHERE ${wanted}`)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
