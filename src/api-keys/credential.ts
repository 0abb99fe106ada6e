import { eq, inArray, or } from 'drizzle-orm'
import { type Db, type Held, prepared } from '../db/client'
import { projects } from '../tenancy/schema'
import { HANDED_FIRST, ISSUED_TO } from './key'
import { apiKeys, retiredSecrets } from './schema'
import { pendingOf, previousOf } from './secrets'

/** The columns of a key that authentication needs. */
export type Credential = ReturnType<typeof byHash>['_']['result'][number]
/** The same with all of its secrets. */
export type Keyring = ReturnType<typeof bySecret>['_']['result'][number]

const fields = {
  id: apiKeys.id,
  project_id: apiKeys.project_id,
  scopes: apiKeys.scopes,
  expires_at: apiKeys.expires_at,
  created_by: apiKeys.created_by,
  issued_to: ISSUED_TO.as('issued_to'),
  handed_first: HANDED_FIRST.as('handed_first'),
  last_used_at: apiKeys.last_used_at,
  revoked_at: apiKeys.revoked_at,
  allowed_networks: apiKeys.allowed_networks,
  rate_limit: apiKeys.rate_limit,
  project_deleted_at: projects.deleted_at,
}

/** Reads the key with this hash, if its project exists. This is the only read that authenticates a request with a current secret. */
export const byHash = prepared((db: Db, { hash }: { hash: Held<string> }) =>
  db
    .select(fields)
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.project_id))
    .where(eq(apiKeys.hash, hash)),
)

/** Reads the key that has, had or will have the secret with this hash. For secrets that {@link byHash} misses. */
export function bySecret(db: Db, hash: string) {
  const ofRetired = db.select({ id: retiredSecrets.key_id }).from(retiredSecrets).where(eq(retiredSecrets.hash, hash))
  const others = {
    hash: apiKeys.hash,
    key_prefix: apiKeys.key_prefix,
    secret_lineage: apiKeys.secret_lineage,
    pending_hash: apiKeys.pending_hash,
    pending: apiKeys.pending,
    previous_hash: apiKeys.previous_hash,
    previous: apiKeys.previous,
  }
  return (
    db
      .select({ ...fields, ...others })
      .from(apiKeys)
      .innerJoin(projects, eq(projects.id, apiKeys.project_id))
      // The current one too: the secret may have become that since byHash was read.
      .where(or(eq(apiKeys.hash, hash), eq(apiKeys.pending_hash, hash), inArray(apiKeys.id, ofRetired)))
  )
}

/** What the secret with this hash is to its key. `unused`: it waited too long. `replaced`: it works no more. */
export function roleOf(
  key: Pick<Keyring, 'hash' | 'pending_hash' | 'pending' | 'previous_hash' | 'previous'>,
  hash: string,
  now: number,
) {
  if (key.hash === hash) return 'current'
  if (key.pending_hash === hash) return pendingOf(key, now) ? 'pending' : 'unused'
  return key.previous_hash === hash && previousOf(key, now) ? 'previous' : 'replaced'
}
