import { and, eq, inArray } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { type Db, type Query, run } from '../db/client'
import { valuesOf } from '../db/sql'
import { connections } from '../inbox/connections/schema'

/** The current state of what an entry is about: its name and, if it was revoked or deleted, when (ms). */
export type Named = { id: string; name: string; ended_at: number | null }

/** Reads the API keys and connections of the project among these ids, the ended ones too. Other ids are ignored. */
export async function readNamed(db: Db, projectId: string, ids: readonly string[]): Promise<Map<string, Named>> {
  const [keys, rest] = [of('key_', ids), of('con_', ids)]
  const wanted: Promise<Named[]>[] = []
  if (keys.length > 0) wanted.push(run(db, namedKeys(db, projectId, keys)))
  if (rest.length > 0) wanted.push(run(db, namedConnections(db, projectId, rest)))
  const rows = (await Promise.all(wanted)).flat()
  return new Map(rows.map((row) => [row.id, row]))
}

function of(prefix: string, ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id) => id.startsWith(prefix)))]
}

function namedKeys(db: Db, projectId: string, ids: readonly string[]): Query<Named[]> {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name, ended_at: apiKeys.revoked_at })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}

function namedConnections(db: Db, projectId: string, ids: readonly string[]): Query<Named[]> {
  return db
    .select({ id: connections.id, name: connections.name, ended_at: connections.deleted_at })
    .from(connections)
    .where(and(eq(connections.project_id, projectId), inArray(connections.id, valuesOf(ids))))
}
