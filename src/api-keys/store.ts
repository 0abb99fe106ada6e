import { sql } from 'drizzle-orm'
import { audit, type Change } from '../audit/store'
import type { Db, Statement } from '../db/client'
import { apiKeys, members, projects, retiredSecrets, users } from '../db/schema'
import { missingScopes, type Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { MINUTE } from '../lib/time'
import type { NewSecret } from './secret'

/** Live keys a project may have; held by the insert itself. */
export const MAX_LIVE_KEYS = 100
/** `last_used_at` is written at most this often a key. */
export const LAST_USED_EVERY = MINUTE

type StoredKey = typeof apiKeys.$inferSelect
/** A key as listed: without its hash, with who minted it and whether they still belong to the project. */
export type KeyRow = Omit<StoredKey, 'hash' | 'project_id' | 'revoked_at'> & {
  minter_email: string | null
  minter_is_member: number
}
/** What authentication needs to know of a key. */
export type Credential = Omit<StoredKey, 'name' | 'key_prefix' | 'hash' | 'created_at'>

const shown = sql`k.id, k.name, k.key_prefix, k.scopes, k.expires_at, k.created_by, k.created_at, k.last_used_at,
  u.email AS minter_email, m.user_id IS NOT NULL AS minter_is_member`
const minter = sql`LEFT JOIN ${users} u ON u.id = k.created_by
  LEFT JOIN ${members} m ON m.project_id = k.project_id AND m.user_id = k.created_by`

/** Reads the key whose live secret has this hash, joined to its project: the one read of an authenticated request. */
export function byHash(hash: string): Statement<Credential> {
  return sql<Credential>`SELECT k.id, k.project_id, k.scopes, k.expires_at, k.created_by, k.last_used_at, k.revoked_at
    FROM ${apiKeys} k JOIN ${projects} p ON p.id = k.project_id WHERE k.hash = ${hash}`
}

/** The ends of the key whose secret a rotation retired; or null. Asked only of secrets that no live key has. */
export function byRetiredHash(db: Db, hash: string) {
  return db.first(sql<Pick<Credential, 'revoked_at' | 'expires_at'>>`SELECT k.revoked_at, k.expires_at
    FROM ${retiredSecrets} r JOIN ${apiKeys} k ON k.id = r.key_id WHERE r.hash = ${hash}`)
}

/** A live key of the project, with the project's name; or null. */
export function findKey(db: Db, projectId: string, id: string) {
  return db.point(sql<KeyRow & { project_name: string }>`SELECT ${shown}, p.name AS project_name
    FROM ${apiKeys} k JOIN ${projects} p ON p.id = k.project_id ${minter}
    WHERE k.id = ${id} AND k.project_id = ${projectId} AND k.revoked_at IS NULL`)
}

/** The project's live keys, newest first, from before the key `before`. */
export function listKeys(db: Db, projectId: string, before: string | null, limit: number): Promise<KeyRow[]> {
  return db.all(sql<KeyRow>`SELECT ${shown} FROM ${apiKeys} k ${minter}
    WHERE k.project_id = ${projectId} AND k.revoked_at IS NULL AND k.id < ${before ?? '~'}
    ORDER BY k.id DESC LIMIT ${limit}`)
}

/** @throws {Fault} `key_limit_reached` */
export async function insertKey(
  db: Db,
  projectId: string,
  fields: { name: string; scopes: readonly Scope[]; expires_at: number | null; created_by: string },
  secret: NewSecret,
  change: Change,
): Promise<KeyRow> {
  const id = newId('key', change.now)
  const [, , row] = await db.batch([
    sql`INSERT INTO ${apiKeys} (id, project_id, name, key_prefix, hash, scopes, expires_at, created_by, created_at)
      SELECT ${id}, ${projectId}, ${fields.name}, ${secret.key_prefix}, ${secret.hash}, ${JSON.stringify(fields.scopes)},
        ${fields.expires_at}, ${fields.created_by}, ${change.now}
      WHERE (SELECT count(*) FROM ${apiKeys} WHERE project_id = ${projectId} AND revoked_at IS NULL) < ${MAX_LIVE_KEYS}`,
    auditKey(projectId, id, 'api_key.minted', change, { name: fields.name, scopes: fields.scopes }),
    selectKey(projectId, id),
  ])
  const key = row.rows[0]
  if (!key) throw new Fault('key_limit_reached', `A project has at most ${MAX_LIVE_KEYS} live keys: revoke one first.`)
  return key
}

/**
 * Gives a key a new secret: compare and swap on the hash, so of two rotations at once exactly one succeeds.
 *
 * @param held the scopes of whoever rotates: nobody obtains a secret that may do more than they may
 * @throws {Fault} `not_found`, `rotation_of_revoked_key`, `rotation_of_expired_key`, `rotation_conflict`, `insufficient_scope`
 */
export async function rotateKey(
  db: Db,
  projectId: string,
  id: string,
  held: readonly Scope[],
  secret: NewSecret,
  change: Change,
): Promise<KeyRow> {
  const current = await db.first(
    sql<typeof apiKeys.$inferSelect>`SELECT * FROM ${apiKeys} WHERE id = ${id} AND project_id = ${projectId}`,
  )
  if (!current) throw new Fault('not_found', 'No API key of this project has this id.')
  if (current.revoked_at !== null) throw new Fault('rotation_of_revoked_key', 'Mint a new key: this one was revoked.')
  if (current.expires_at !== null && current.expires_at <= change.now) {
    throw new Fault('rotation_of_expired_key', 'Mint a new key: a new secret of this one would be expired already.')
  }
  const [missing] = missingScopes(JSON.parse(current.scopes) as Scope[], held)
  if (missing) {
    throw new Fault('insufficient_scope', `This key has the scope ${missing}, which the caller lacks.`, { missing })
  }
  const [, , , row] = await db.batch([
    sql`UPDATE ${apiKeys} SET hash = ${secret.hash}, key_prefix = ${secret.key_prefix}
      WHERE id = ${id} AND hash = ${current.hash} AND revoked_at IS NULL`,
    sql`INSERT INTO ${retiredSecrets} (hash, key_id, retired_at)
      SELECT ${current.hash}, ${id}, ${change.now} WHERE changes() > 0`,
    auditKey(projectId, id, 'api_key.rotated', change, { key_prefix: secret.key_prefix }),
    sql<KeyRow>`${selectKey(projectId, id)} AND k.hash = ${secret.hash}`,
  ])
  const key = row.rows[0]
  if (!key) throw new Fault('rotation_conflict', 'Read the key again: another call rotated or revoked it meanwhile.')
  return key
}

/** Ends a key for good. Ending it again changes nothing. @throws {Fault} `not_found` */
export async function revokeKey(db: Db, projectId: string, id: string, change: Change): Promise<void> {
  const [, , found] = await db.batch([
    sql`UPDATE ${apiKeys} SET revoked_at = ${change.now}
      WHERE id = ${id} AND project_id = ${projectId} AND revoked_at IS NULL`,
    auditKey(projectId, id, 'api_key.revoked', change),
    sql<{ id: string }>`SELECT id FROM ${apiKeys} WHERE id = ${id} AND project_id = ${projectId}`,
  ])
  if (found.rows.length === 0) throw new Fault('not_found', 'No API key of this project has this id.')
}

/** Records a use, unless one was recorded in the last minute: the condition holds whatever the caches in front say. */
export async function touchKey(db: Db, id: string, now: number): Promise<void> {
  await db.all(sql`UPDATE ${apiKeys} SET last_used_at = ${now} WHERE id = ${id} AND revoked_at IS NULL
    AND (last_used_at IS NULL OR last_used_at <= ${now - LAST_USED_EVERY})`)
}

function selectKey(projectId: string, id: string) {
  return sql<KeyRow>`SELECT ${shown} FROM ${apiKeys} k ${minter} WHERE k.id = ${id} AND k.project_id = ${projectId}`
}

function auditKey(projectId: string, id: string, action: string, change: Change, details?: Record<string, unknown>) {
  return audit({ project_id: projectId, action, object_type: 'api_key', object_id: id, details }, change)
}
