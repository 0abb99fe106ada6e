import { and, eq, inArray, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { type Db, type Directory, type Query, run } from '../db/client'
import { valuesOf } from '../db/sql'
import { domains } from '../domains/schema'
import type { Runtime } from '../env'
import { ssoConnections } from '../identities/schema'
import { connections } from '../inbox/connections/schema'

/** The current state of what an entry is about: its name and, if it was revoked or deleted, when (ms). */
export type NamedObject = { id: string; name: string; ended_at: number | null }

/**
 * Reads the API keys, connections, domains and single sign-on connections of the project among these ids, the ended ones too.
 * Other ids are ignored.
 */
export async function readNamed(
  { db, directory }: Pick<Runtime, 'db' | 'directory'>,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, NamedObject>> {
  const read = [
    ['key_', (found: string[]) => run(db, namedKeys(db, projectId, found))],
    ['con_', (found: string[]) => run(db, namedConnections(db, projectId, found))],
    ['dom_', (found: string[]) => run(directory, namedDomains(directory, projectId, found))],
    ['sso_', (found: string[]) => run(directory, namedSso(directory, projectId, found))],
  ] as const
  const rows = (
    await Promise.all(
      read.map(([prefix, named]) => {
        const found = of(prefix, ids)
        return found.length > 0 ? named(found) : []
      }),
    )
  ).flat()
  return new Map(rows.map((row) => [row.id, row]))
}

function of(prefix: string, ids: readonly string[]): string[] {
  return [...new Set(ids.filter((id) => id.startsWith(prefix)))]
}

function namedKeys(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: apiKeys.id, name: apiKeys.name, ended_at: apiKeys.revoked_at })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids))))
}

function namedConnections(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: connections.id, name: connections.name, ended_at: connections.deleted_at })
    .from(connections)
    .where(and(eq(connections.project_id, projectId), inArray(connections.id, valuesOf(ids))))
}

function namedDomains(directory: Directory, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return directory
    .select({
      id: domains.id,
      name: domains.hostname,
      ended_at: sql<number | null>`iif(${domains.state} = 'released', ${domains.state_since}, NULL)`.as('ended_at'),
    })
    .from(domains)
    .where(and(eq(domains.project_id, projectId), inArray(domains.id, valuesOf(ids))))
}

function namedSso(directory: Directory, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return directory
    .select({ id: ssoConnections.id, name: ssoConnections.name, ended_at: ssoConnections.deleted_at })
    .from(ssoConnections)
    .where(and(eq(ssoConnections.project_id, projectId), inArray(ssoConnections.id, valuesOf(ids))))
}
