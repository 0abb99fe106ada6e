import { and, eq, inArray } from 'drizzle-orm'
import { apiKeys } from '../../../api-keys/schema'
import { type Db, run } from '../../../db/client'
import { valuesOf } from '../../../db/sql'
import type { Runtime } from '../../../env'
import { readAddresses } from '../../../tenancy/people'

/** The names of API keys, revoked ones too, and the addresses of users, by id. */
export async function namesOf(rt: Runtime, project: string, ids: readonly string[]): Promise<Map<string, string>> {
  const ofKeys = ids.filter((id) => id.startsWith('key_'))
  const [keys, people] = await Promise.all([
    ofKeys.length > 0 ? run(rt.db, keyNames(rt.db, project, ofKeys)) : [],
    readAddresses(rt, ids),
  ])
  return new Map([...people, ...keys.map(({ id, name }) => [id, name] as const)])
}

function keyNames(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}
