import { and, eq, inArray, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/sqlite-core'
import { apiKeys } from '../../../api-keys/schema'
import { type Db, run } from '../../../db/client'
import { users } from '../../../sessions/schema'

/** The names of users and API keys, by id: one trip, or none. */
export async function namesOf(db: Db, project: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = ids.length === 0 ? [] : await run(db, readActors(db, project, ids))
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Reads the names of API keys, including revoked ones, and the email addresses of users. */
function readActors(db: Db, projectId: string, ids: readonly string[]) {
  const wanted = sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
  return unionAll(
    db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, wanted))),
    db.select({ id: users.id, name: users.email }).from(users).where(inArray(users.id, wanted)),
  )
}
