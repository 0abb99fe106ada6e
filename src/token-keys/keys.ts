import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import type { Runtime } from '../env'
import { requireSealingKey } from '../inbox/connections/sealing'
import { projects } from '../tenancy/schema'
import { entitlementKeys } from './schema'
import { newSigningKey, type SigningKey } from './signing'

export const k = alias(entitlementKeys, 'k')
export const other = alias(entitlementKeys, 'o')

/** A key of a project, without its private part. */
export type TokenKey = ReturnType<typeof listTokenKeys>['_']['result'][number]

/** Reads the keys of a project: the current one, the next, then the retired ones, the newest first. */
export function listTokenKeys(db: Db, projectId: string) {
  const { kid, state, created_at, state_at } = entitlementKeys
  return db
    .select({ kid, state, created_at, state_at })
    .from(entitlementKeys)
    .where(eq(entitlementKeys.project_id, projectId))
    .orderBy(state, desc(state_at), kid)
}

/** Reads the key that signs: a row if the project has one. */
export function findSigningKey(db: Db, projectId: string) {
  const { kid, public: point } = entitlementKeys
  return db
    .select({
      kid,
      public: point,
      // Only a retired key has no private part.
      key: sql<number>`${entitlementKeys.key}`.as('key'),
      box: sql<string>`${entitlementKeys.box}`.as('box'),
    })
    .from(entitlementKeys)
    .where(isCurrent(projectId))
}

/** Reads the published keys of a project that is not deleted: a row with nulls if it has none, no row if there is no such project. */
export function findPublished(db: Db, projectId: string) {
  return db
    .select({ kid: entitlementKeys.kid, public: entitlementKeys.public })
    .from(projects)
    .leftJoin(entitlementKeys, eq(entitlementKeys.project_id, projects.id))
    .where(and(eq(projects.id, projectId), isNull(projects.deleted_at)))
    .orderBy(entitlementKeys.state, entitlementKeys.kid)
}

/** Inserts the first key of a project, for a batch. If the project has a key that signs, it changes nothing. */
export function firstKeyInserted(db: Db, projectId: string, key: SigningKey, now: number) {
  return insertWhere(db, entitlementKeys, rowOf(projectId, key, now), sql`NOT ${hasCurrent(projectId)}`)
}

/** Whether a project has a key that signs, as an expression. */
export function hasCurrent(projectId: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${entitlementKeys} ${other} WHERE ${isOtherKey(projectId, 'current')})`
}

function rowOf(project_id: string, key: SigningKey, now: number) {
  return { project_id, ...key, state: 'current' as const, created_at: now, state_at: now }
}

/** Whether a row is the key of a project that signs. */
export function isCurrent(projectId: string) {
  return and(eq(entitlementKeys.project_id, projectId), eq(entitlementKeys.state, 'current'))
}

/** Whether a row of {@link other} is a key of a project in this state. */
export function isOtherKey(projectId: string | SQL, state: 'current' | 'next') {
  return and(eq(other.project_id, projectId), eq(other.state, state))
}

/**
 * Makes a key of a project that signs its tokens, sealed under the encryption key. It is not stored yet.
 *
 * @throws {Fault} `encryption_key_unavailable` if the encryption key is not the right one: what it seals would be lost later
 */
export async function makeSigningKey(rt: Runtime, projectId: string): Promise<SigningKey> {
  await requireSealingKey(rt)
  return newSigningKey(rt.settings.encryptionKeys, projectId)
}
