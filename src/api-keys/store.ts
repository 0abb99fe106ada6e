import { and, desc, eq, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db, type Query, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { missingScopes, type Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { members } from '../members/schema'
import { projects } from '../projects/schema'
import { users } from '../sessions/schema'
import { LAST_USED_EVERY, MAX_LIVE_KEYS } from './limits'
import { apiKeys, retiredSecrets } from './schema'
import type { NewSecret } from './secret'

/** A key as listed: without its hash, with its minter and whether they are still a member of the project. */
export type KeyRow = Awaited<ReturnType<typeof listKeys>>[number]
/** The columns of a key that authentication needs. */
export type Credential = Awaited<ReturnType<typeof byHash>>[number]

/** Reads the key with this hash, if its project exists. This is the only read that authenticates a request. */
export function byHash(db: Db, hash: string) {
  return db
    .select({
      id: apiKeys.id,
      project_id: apiKeys.project_id,
      scopes: apiKeys.scopes,
      expires_at: apiKeys.expires_at,
      created_by: apiKeys.created_by,
      last_used_at: apiKeys.last_used_at,
      revoked_at: apiKeys.revoked_at,
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.project_id))
    .where(eq(apiKeys.hash, hash))
}

/**
 * Reads the key of a secret that a rotation replaced, and whether it has ended. For secrets that {@link byHash} misses.
 */
export function byRetiredHash(db: Db, hash: string) {
  return db
    .select({ revoked_at: apiKeys.revoked_at, expires_at: apiKeys.expires_at })
    .from(retiredSecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, retiredSecrets.key_id))
    .where(eq(retiredSecrets.hash, hash))
}

/** Reads a live key of the project. */
export function findKey(db: Db, projectId: string, id: string) {
  return selectKeys(db, and(eq(apiKeys.id, id), eq(apiKeys.project_id, projectId), isNull(apiKeys.revoked_at)))
}

/** Reads the project's live keys, newest first, starting after the key `before`. */
export function listKeys(db: Db, projectId: string, before: string | null, limit: number) {
  const live = and(eq(apiKeys.project_id, projectId), isNull(apiKeys.revoked_at))
  return selectKeys(db, and(live, before === null ? undefined : lt(apiKeys.id, before)))
    .orderBy(desc(apiKeys.id))
    .limit(limit)
}

/** Inserts a key. @throws {Fault} `key_limit_reached` */
export async function insertKey(
  db: Db,
  fields: { project_id: string; name: string; scopes: Scope[]; expires_at: number | null; created_by: string },
  { hash, key_prefix }: NewSecret,
  change: Change,
): Promise<KeyRow> {
  const id = newId('key', change.now)
  const { project_id, name, scopes } = fields
  const live = db.$count(apiKeys, and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at)))
  const row = { ...fields, id, hash, key_prefix, created_at: change.now }
  const { key } = await batch(db, {
    ...audited(
      db,
      change,
      entry(project_id, id, 'api_key.minted', { name, scopes }),
      insertWhere(db, apiKeys, row, sql`${live} < ${MAX_LIVE_KEYS}`),
    ),
    key: selectKeys(db, eq(apiKeys.id, id)),
  })
  if (!key[0])
    throw new Fault('key_limit_reached', `A project can have ${MAX_LIVE_KEYS} live API keys. Revoke one first.`)
  return key[0]
}

/**
 * Replaces the secret of a key: a compare-and-swap on the hash, so of two concurrent rotations exactly one succeeds.
 *
 * @param key.held the scopes of the caller, who must have every scope of the key
 * @throws {Fault} `not_found`, `rotation_of_revoked_key`, `rotation_of_expired_key`, `rotation_conflict`,
 *   `insufficient_scope`
 */
export async function rotateKey(
  db: Db,
  key: { project_id: string; id: string; held: readonly Scope[] },
  { hash, key_prefix }: NewSecret,
  change: Change,
): Promise<KeyRow> {
  const { project_id, id, held } = key
  const [current] = await run(db, db.select().from(apiKeys).where(ofProject(project_id, id)))
  if (!current) throw notFound()
  if (current.revoked_at !== null)
    throw new Fault('rotation_of_revoked_key', 'This API key was revoked. Mint a new one.')
  if (current.expires_at !== null && current.expires_at <= change.now) {
    throw new Fault('rotation_of_expired_key', 'This API key has expired. Mint a new one.')
  }
  const [missing] = missingScopes(current.scopes, held)
  if (missing) {
    throw new Fault(
      'insufficient_scope',
      `You cannot rotate this API key: it has the scope ${missing}, which you do not have.`,
      { missing },
    )
  }
  const swapped = db
    .update(apiKeys)
    .set({ hash, key_prefix })
    .where(and(eq(apiKeys.id, id), eq(apiKeys.hash, current.hash), isNull(apiKeys.revoked_at)))
  const retired = { hash: current.hash, key_id: id, retired_at: change.now }
  const found = () => selectKeys(db, and(ofProject(project_id, id), eq(apiKeys.hash, hash)))
  const committed = batch(
    db,
    {
      ...audited(db, change, entry(project_id, id, 'api_key.rotated', { key_prefix }), swapped),
      // This follows the audit row, which is written only if the secret was swapped.
      retired: insertWhere(db, retiredSecrets, retired, sql`changes() > 0`),
      rotated: found(),
    },
    { idempotent: true }, // the second time, the hash is no longer the one to be swapped
  )
  const rotated = await committed.then(
    (results) => results.rotated,
    (error) => foundAfter(db, found(), error),
  )
  if (!rotated[0]) throw new Fault('rotation_conflict', 'Another call rotated or revoked this API key. Read it again.')
  return rotated[0]
}

/**
 * Reads what a commit has left that was answered with an error: the answer alone may have been lost.
 *
 * @throws the error, if there is nothing or it cannot be read
 */
async function foundAfter<T>(db: Db, query: Query<T[]>, error: unknown): Promise<T[]> {
  const isUnknown = error instanceof Fault && error.fault === 'database_unavailable'
  const rows = isUnknown ? await run(db, query).catch(() => []) : []
  if (rows.length === 0) throw error
  return rows
}

/** Revokes a key. Revoking it again changes nothing. @throws {Fault} `not_found` */
export async function revokeKey(db: Db, projectId: string, id: string, change: Change): Promise<void> {
  const ended = db
    .update(apiKeys)
    .set({ revoked_at: change.now })
    .where(and(ofProject(projectId, id), isNull(apiKeys.revoked_at)))
  const { found } = await batch(db, {
    ...audited(db, change, entry(projectId, id, 'api_key.revoked'), ended),
    found: db.select({ id: apiKeys.id }).from(apiKeys).where(ofProject(projectId, id)),
  })
  if (found.length === 0) throw notFound()
}

/** Records a use, unless one was recorded in the last minute. The condition holds whatever the caches say. */
export async function touchKey(db: Db, id: string, now: number): Promise<void> {
  const stale = or(isNull(apiKeys.last_used_at), lte(apiKeys.last_used_at, now - LAST_USED_EVERY))
  const live = and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at), stale)
  await run(db, db.update(apiKeys).set({ last_used_at: now }).where(live))
}

function selectKeys(db: Db, condition: SQL | undefined) {
  return db
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      key_prefix: apiKeys.key_prefix,
      scopes: apiKeys.scopes,
      expires_at: apiKeys.expires_at,
      created_by: apiKeys.created_by,
      created_at: apiKeys.created_at,
      last_used_at: apiKeys.last_used_at,
      minter_email: users.email,
      minter_is_member: sql<boolean>`${isNotNull(members.user_id)}`.mapWith(Boolean).as('minter_is_member'),
    })
    .from(apiKeys)
    .leftJoin(users, eq(users.id, apiKeys.created_by))
    .leftJoin(members, and(eq(members.project_id, apiKeys.project_id), eq(members.user_id, apiKeys.created_by)))
    .where(condition)
}

function ofProject(projectId: string, id: string) {
  return and(eq(apiKeys.id, id), eq(apiKeys.project_id, projectId))
}

function entry(project_id: string, object_id: string, action: string, details?: Record<string, unknown>) {
  return { project_id, action, object_type: 'api_key', object_id, details }
}

function notFound(): Fault {
  return new Fault('not_found', 'API key not found in this project.')
}
