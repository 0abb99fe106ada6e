import { and, eq, inArray, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/sqlite-core'
import { apiKeys } from '../../../api-keys/schema'
import type { Db } from '../../../db/client'
import { users } from '../../../sessions/schema'

/** Reads the names of API keys, including revoked ones, and the email addresses of users. */
export function readActors(db: Db, projectId: string, ids: readonly string[]) {
  const wanted = sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
  return unionAll(
    db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, wanted))),
    db.select({ id: users.id, name: users.email }).from(users).where(inArray(users.id, wanted)),
  )
}
