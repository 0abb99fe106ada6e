import { and, eq, inArray } from 'drizzle-orm'
import { apiKeys } from '../../../api-keys/schema'
import type { Db } from '../../../db/client'
import { valuesOf } from '../../../db/sql'

/** Reads the names of API keys, including revoked ones. */
export function keyNames(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}
