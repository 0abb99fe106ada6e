import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, type Change } from '../audit/store'
import { batch, type Db, type Query, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import type { Actor } from '../http/actor'
import { requireConfirmedFor } from '../http/policy'
import { keptWith } from '../idempotency/claim'
import { ADMINISTRATIVE, missingScopes } from '../lib/access'
import { Fault, notFound } from '../lib/fault'
import { keyRevoked, keyRotated, rotationOfExpired, rotationOfRevoked } from './faults'
import { type KeyRow, keyEntry, keysOfProject, selectKeys } from './key'
import { apiKeys, retiredSecrets } from './schema'
import type { NewSecret } from './secret'

type Stored = typeof apiKeys.$inferSelect
/** The API key that makes the call, as it is in the statement that writes. */
const caller = alias(apiKeys, 'caller')

/**
 * Replaces the secret of a key: a compare-and-swap on the hash, so of two concurrent rotations exactly one succeeds. The
 * swap also requires that an API key which rotates another is still live with the same secret.
 *
 * @param key.actor the caller, who must have every scope of the key, and a confirmed session for some: `NEEDS_CONFIRMATION`
 * @param key.known the `key_prefix` of the secret that the caller means to replace; any secret if it is not given
 * @param key.unused whether the key must never have been used
 * @throws {Fault} `not_found`, `rotation_of_revoked_key`, `rotation_of_expired_key`, `rotation_conflict`,
 *   `confirmation_required`, `insufficient_scope`, also where an API key rotates another that has an
 *   administrative scope; `key_expires_first`; `key_revoked` or `key_rotated` if that happened to the caller meanwhile
 */
export async function rotateKey(
  db: Db,
  key: { project_id: string; id: string; actor: Actor; known?: string | undefined; unused?: boolean },
  { hash, key_prefix }: NewSecret,
  change: Change,
): Promise<KeyRow> {
  const { project_id, id } = key
  const { type, id: actorId } = change.actor
  const otherKey = type === 'api_key' && actorId !== id
  const rows = await run(
    db,
    db
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.project_id, project_id), inArray(apiKeys.id, otherKey ? [id, actorId] : [id]))),
  )
  const current = rotatable(rows, key, change.now)
  if (otherKey) requireOrdinary(current)
  if (key.known !== undefined && key.known !== current.key_prefix) throw conflict()
  if (key.unused && current.last_used_at !== null) throw conflict()
  const by = otherKey ? requireLasting(rows, actorId, current) : null
  const swapped = db
    .update(apiKeys)
    .set({ hash, key_prefix, secret_issued_to: actorId, secret_lineage: lineageOf(current, by, type) })
    .where(
      and(
        eq(apiKeys.id, id),
        eq(apiKeys.hash, current.hash),
        isNull(apiKeys.revoked_at),
        key.unused ? isNull(apiKeys.last_used_at) : undefined,
        by ? stillLive(db, by) : undefined,
      ),
    )
  const retired = { hash: current.hash, key_id: id, retired_at: change.now }
  const found = () => selectKeys(db, and(keysOfProject(project_id, id), eq(apiKeys.hash, hash)))
  const committed = batch(
    db,
    {
      ...audited(db, change, keyEntry(project_id, id, 'api_key.rotated', { key_prefix }), swapped),
      // These follow the audit row, which is written only if the secret was swapped.
      ...keptWith(db, change, id, key_prefix),
      retired: insertWhere(db, retiredSecrets, retired, sql`changes() > 0`),
      rotated: found(),
      callers: db
        .select({ hash: apiKeys.hash, revoked_at: apiKeys.revoked_at })
        .from(apiKeys)
        .where(eq(apiKeys.id, by?.id ?? '')),
    },
    { idempotent: true }, // the second time, the hash is no longer the one to be swapped
  )
  const { rotated, callers } = await committed.catch(async (error) => ({
    rotated: await foundAfter(db, found(), error),
    callers: [],
  }))
  if (rotated[0]) return rotated[0]
  if (by) requireSame(by, callers[0])
  throw conflict()
}

function conflict(): Fault {
  return new Fault('rotation_conflict', 'Another call rotated or revoked this API key. Read it again.')
}

/**
 * Reads what a batch that ended with an error has left: it may have been committed, and only the answer was lost.
 *
 * @throws the error, if there is nothing or it cannot be read
 */
async function foundAfter<T>(db: Db, query: Query<T[]>, error: unknown): Promise<T[]> {
  const isUnknown = error instanceof Fault && error.fault === 'database_unavailable'
  const rows = isUnknown ? await run(db, query).catch(() => []) : []
  if (rows.length === 0) throw error
  return rows
}

/** The key, if the caller may rotate it now. */
function rotatable(rows: Stored[], { id, actor }: { id: string; actor: Actor }, now: number): Stored {
  const current = rows.find((row) => row.id === id)
  if (!current) throw notFound('API key')
  if (current.revoked_at !== null) throw rotationOfRevoked()
  if (current.expires_at !== null && current.expires_at <= now) {
    throw rotationOfExpired()
  }
  const [missing] = missingScopes(current.scopes, actor.scopes)
  if (missing) {
    throw new Fault(
      'insufficient_scope',
      `You cannot rotate this API key: it has the scope ${missing}, which you do not have.`,
      { missing },
    )
  }
  requireConfirmedFor(actor, current.scopes)
  return current
}

/**
 * Refuses a key with an administrative scope to another API key. The scope counts by the role of who minted the key that has
 * it. So a user who was removed could rotate a colleague's key with their own, whose scope no longer counts.
 */
function requireOrdinary({ scopes }: Stored): void {
  const missing = scopes.find((scope) => ADMINISTRATIVE.includes(scope))
  if (!missing) return
  throw new Fault(
    'insufficient_scope',
    `Rotate this key with a session: it has ${missing}, which an API key cannot hand on.`,
    { missing },
  )
}

/** The API key that makes the call, if it lasts at least as long as the key whose secret it would get. */
function requireLasting(rows: Stored[], id: string, { expires_at: end }: Stored): Stored {
  const by = rows.find((row) => row.id === id)
  if (!by) throw keyRevoked()
  if (by.expires_at === null || (end !== null && end <= by.expires_at)) return by
  throw new Fault(
    'key_expires_first',
    'Your API key expires before the key that it would rotate, so the new secret would outlive yours. Use a console session, or an API key that lasts longer.',
  )
}

/**
 * The keys through whose hands the new secret goes. A key that rotates itself hands the secret to whoever holds its
 * current one: the list stays, and a user who was handed that one without having minted the key joins it, at the end.
 * Otherwise a rotation could erase where a secret came from.
 */
function lineageOf(current: Stored, by: Stored | null, type: Change['actor']['type']): string[] | null {
  if (by) return [...new Set([by.id, ...(by.secret_lineage ?? [])])].filter((id) => id !== current.id)
  if (type !== 'api_key') return null
  const { secret_lineage, secret_issued_to: holder } = current
  if (!holder?.startsWith('usr_') || holder === current.created_by) return secret_lineage
  return [...new Set([...(secret_lineage ?? []), holder])]
}

function stillLive(db: Db, by: Stored) {
  const same = and(eq(caller.id, by.id), eq(caller.hash, by.hash), isNull(caller.revoked_at))
  return sql`EXISTS ${db.select({ one: sql`1` }).from(caller).where(same)}`
}

/** @throws {Fault} what happened to the caller between its authentication and the write */
function requireSame(by: Stored, now: Pick<Stored, 'hash' | 'revoked_at'> | undefined): void {
  if (!now || now.revoked_at !== null) throw keyRevoked()
  if (now.hash !== by.hash) throw keyRotated()
}
