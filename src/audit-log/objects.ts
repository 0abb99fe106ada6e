import { and, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { plans } from '../catalog/schema'
import { consumers } from '../consumers/schema'
import { consumerTitle } from '../consumers/title'
import { batch, type Database, type Db, type Directory, type Query } from '../db/client'
import { valuesOf } from '../db/sql'
import { domains } from '../domains/schema'
import type { Runtime } from '../env'
import { ssoConnections } from '../identities/schema'
import { connections } from '../inbox/connections/schema'

/** The current state of what an entry is about: its name and, if it was revoked or deleted, when (ms). */
export type NamedObject = { id: string; name: string; ended_at: number | null }

/**
 * Reads the API keys, connections, consumers, plans, domains and single sign-on connections of the project among these ids, the ended
 * ones too, in one round trip to each database. Other ids are ignored.
 */
export async function readNamed(
  { db, directory }: Pick<Runtime, 'db' | 'directory'>,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, NamedObject>> {
  const [own, others] = await Promise.all([
    readFrom(db, ids, {
      key_: (some) => namedKeys(db, projectId, some),
      con_: (some) => namedConnections(db, projectId, some),
      csm_: (some) => namedConsumers(db, projectId, some),
      pln_: (some) => namedPlans(db, projectId, some),
    }),
    readFrom(directory, ids, {
      dom_: (some) => namedDomains(directory, projectId, some),
      sso_: (some) => namedSso(directory, projectId, some),
    }),
  ])
  return new Map([...own, ...others].map((row) => [row.id, row]))
}

/** Reads objects in one round trip, or in none. @param reads the statements by the beginnings of the ids that they read */
async function readFrom(
  database: Database,
  ids: readonly string[],
  reads: Record<string, (some: string[]) => Query<NamedObject[]>>,
): Promise<NamedObject[]> {
  const asked = Object.entries(reads).flatMap(([prefix, read]) => {
    const some = [...new Set(ids.filter((id) => id.startsWith(prefix)))]
    return some.length > 0 ? [[prefix, read(some)] as const] : []
  })
  if (asked.length === 0) return []
  return Object.values(await batch(database, Object.fromEntries(asked))).flat()
}

/** Consumers by what the console calls them. One without a name, an email address or an external id is left out, as an erased one is. */
function namedConsumers(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  const title = consumerTitle(sql`${projectId}`, consumers) as SQL<string>
  return db
    .select({ id: consumers.id, name: title.as('name'), ended_at: sql<null>`NULL`.as('ended_at') })
    .from(consumers)
    .where(and(eq(consumers.project_id, projectId), inArray(consumers.id, valuesOf(ids)), isNotNull(title)))
}

function namedPlans(db: Db, projectId: string, ids: readonly string[]): Query<NamedObject[]> {
  return db
    .select({ id: plans.id, name: plans.name, ended_at: sql<null>`NULL`.as('ended_at') })
    .from(plans)
    .where(and(eq(plans.project_id, projectId), inArray(plans.id, valuesOf(ids))))
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
