import { and, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/client'
import { valuesOf } from '../db/sql'
import { projects } from '../tenancy/schema'
import { roleOf } from './credential'
import { apiKeys, retiredSecrets } from './schema'
import { pendingOf, previousOf } from './secrets'

/* Keys of which a secret was found where it should not be. */

/** Reads the keys that have, had or will have secrets with these hashes, and which of the hashes are of secrets that ended. */
export function findExposedKeys(db: Db, hashes: readonly string[]) {
  const isRetired = inArray(retiredSecrets.hash, valuesOf(hashes))
  const ofRetired = db.select({ id: retiredSecrets.key_id }).from(retiredSecrets).where(isRetired)
  const isOne = or(
    inArray(apiKeys.hash, valuesOf(hashes)),
    inArray(apiKeys.pending_hash, valuesOf(hashes)),
    inArray(apiKeys.id, ofRetired),
  )
  return {
    keys: db
      .select({
        id: apiKeys.id,
        project_id: apiKeys.project_id,
        name: apiKeys.name,
        key_prefix: apiKeys.key_prefix,
        hash: apiKeys.hash,
        pending_hash: apiKeys.pending_hash,
        pending: apiKeys.pending,
        previous_hash: apiKeys.previous_hash,
        previous: apiKeys.previous,
        expires_at: apiKeys.expires_at,
        revoked_at: apiKeys.revoked_at,
        settings: projects.settings,
      })
      .from(apiKeys)
      .innerJoin(projects, and(eq(projects.id, apiKeys.project_id), isNull(projects.purging_since)))
      .where(isOne),
    retired: db.select({ hash: retiredSecrets.hash }).from(retiredSecrets).where(isRetired),
  }
}
export type ExposedKey = ReturnType<typeof findExposedKeys>['keys']['_']['result'][number]

/** What a key shows of the secret with this hash; null if the secret does not work, now or at its first use. */
export function exposedSecret(
  key: ExposedKey,
  hash: string,
  now: number,
): { key_prefix: string; secret: string } | null {
  if (key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now)) return null
  const secret = roleOf(key, hash, now)
  if (secret === 'replaced' || secret === 'unused') return null
  const other = secret === 'pending' ? pendingOf(key, now) : secret === 'previous' ? previousOf(key, now) : key
  return other && { key_prefix: other.key_prefix, secret }
}

/** Whether a key is live and has a secret with this hash, as an expression. */
export function hasSecret(id: SQL, hash: SQL): SQL {
  const { hash: current, pending_hash, previous_hash } = apiKeys
  return sql`EXISTS (SELECT 1 FROM ${apiKeys} WHERE ${apiKeys.id} = ${id} AND ${apiKeys.revoked_at} IS NULL
    AND ${hash} IN (${current}, ${pending_hash}, ${previous_hash}))`
}

/** Revokes the keys with these ids. @param ids a subquery */
export function exposedKeysRevoked(db: Db, ids: SQL, now: number) {
  return db
    .update(apiKeys)
    .set({ revoked_at: now })
    .where(and(inArray(apiKeys.id, ids), isNull(apiKeys.revoked_at)))
}
