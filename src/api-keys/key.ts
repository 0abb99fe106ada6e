import { and, desc, eq, gt, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditLog } from '../audit/schema'
import { audited, type Change, entriesOf } from '../audit/store'
import { batch, type Db, type Held, prepared, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { overLimit } from '../http/rate-limit'
import { keptWith } from '../idempotency/claim'
import { Fault } from '../lib/fault'
import { idFloor } from '../lib/ids'
import { DAY, HOUR, SECOND } from '../lib/time'
import { projects } from '../tenancy/schema'
import { LAST_USED_EVERY, MAX_LIVE_KEYS, MAX_MINTED_A_DAY } from './limits'
import { apiKeys, retiredSecrets } from './schema'
import type { NewSecret } from './secret'

const ISSUED_TO = sql<string>`coalesce(${apiKeys.secret_issued_to}, ${apiKeys.created_by})`
/** The end of the lineage of a secret. Only there can a user be: see `lineageOf` in rotate.ts. */
const HANDED_FIRST = sql<string | null>`(${apiKeys.secret_lineage} ->> '$[#-1]')`
const holderKey = alias(apiKeys, 'holder_key')
const keyFields = {
  id: apiKeys.id,
  name: apiKeys.name,
  key_prefix: apiKeys.key_prefix,
  scopes: apiKeys.scopes,
  expires_at: apiKeys.expires_at,
  created_by: apiKeys.created_by,
  created_at: apiKeys.created_at,
  last_used_at: apiKeys.last_used_at,
  revoked_at: apiKeys.revoked_at,
  minter_email: apiKeys.minter_email,
  issued_to: ISSUED_TO.as('issued_to'),
  handed_first: HANDED_FIRST.as('handed_first'),
  issued_to_name: sql<string | null>`${holderKey.name}`.as('issued_to_name'),
}

/** A key as listed: without its hash. */
export type KeyRow = ReturnType<typeof listKeys>['_']['result'][number]
/** The columns of a key that authentication needs. */
export type Credential = ReturnType<typeof byHash>['_']['result'][number]

/**
 * The users that the administrative scopes of a key depend on: who minted it, and then the user who was handed its secret, also
 * where the key has rotated itself since.
 */
export function usersOf(key: Pick<KeyRow, 'created_by' | 'issued_to' | 'handed_first'>): string[] {
  const handed = [key.handed_first ?? '', key.issued_to].filter((id) => id.startsWith('usr_'))
  return [...new Set([key.created_by, ...handed])]
}

/** Reads the key with this hash, if its project exists. This is the only read that authenticates a request. */
export const byHash = prepared((db: Db, { hash }: { hash: Held<string> }) =>
  db
    .select({
      id: apiKeys.id,
      project_id: apiKeys.project_id,
      scopes: apiKeys.scopes,
      expires_at: apiKeys.expires_at,
      created_by: apiKeys.created_by,
      issued_to: ISSUED_TO.as('issued_to'),
      handed_first: HANDED_FIRST.as('handed_first'),
      last_used_at: apiKeys.last_used_at,
      revoked_at: apiKeys.revoked_at,
      project_deleted_at: projects.deleted_at,
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.project_id))
    .where(eq(apiKeys.hash, hash)),
)

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

type KeyHeld = { project_id: Held<string>; id: Held<string> }

/** Reads a live key of the project. */
export const findKey = prepared((db: Db, key: KeyHeld) => selectKeys(db, isLive(key)))

/** Reads a live key with the name of its project. */
export const findOwnKey = prepared((db: Db, key: KeyHeld) =>
  db
    .select({ ...keyFields, project_name: sql<string>`${projects.name}`.as('project_name') })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.project_id))
    .leftJoin(holderKey, eq(holderKey.id, apiKeys.secret_issued_to))
    .where(isLive(key)),
)

function isLive({ project_id, id }: KeyHeld) {
  return and(eq(apiKeys.id, id), eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at))
}

/** Reads a key of the project, live or revoked. */
export function findKeyEver(db: Db, projectId: string, id: string) {
  return selectKeys(db, keysOfProject(projectId, id))
}

type KeysHeld = {
  project_id: Held<string>
  before: Held<string> | null
  limit: Held<number>
  issuedTo?: Held<string> | undefined
}

/**
 * Reads the project's live keys, newest first, starting after the key `before`. `issuedTo`: only those whose current secret this
 * user or API key was handed.
 */
export const listKeys = prepared((db: Db, { project_id, before, limit, issuedTo }: KeysHeld) => {
  const live = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at))
  const issued = issuedTo === undefined ? undefined : or(eq(ISSUED_TO, issuedTo), handedThrough(issuedTo))
  return selectKeys(db, and(live, issued, before === null ? undefined : lt(apiKeys.id, before)))
    .orderBy(desc(apiKeys.id))
    .limit(limit)
})

/** How many of the first changes of a project {@link firstRevoked} looks at. */
const FIRST_CHANGES = 50

/**
 * Reads the revoked keys among the first that the project had: whether one was used. No index finds revoked keys by
 * project, so this takes them from the beginning of the audit log.
 */
export function firstRevoked(db: Db, projectId: string) {
  const first = db
    .select({ action: auditLog.action, object_id: auditLog.object_id })
    .from(auditLog)
    .where(eq(auditLog.project_id, projectId))
    .orderBy(auditLog.id)
    .limit(FIRST_CHANGES)
    .as('first')
  return db
    .select({ last_used_at: apiKeys.last_used_at })
    .from(first)
    .innerJoin(apiKeys, eq(apiKeys.id, first.object_id))
    .where(and(eq(first.action, 'api_key.minted'), isNotNull(apiKeys.revoked_at)))
}

/**
 * Whether the current secret of a key went through the hands of this API key: directly, or from key to key. Or of this user,
 * who rotated the key before it rotated itself.
 */
export function handedThrough(holderId: string | Held<string>): SQL {
  return sql`EXISTS (SELECT 1 FROM json_each(${apiKeys.secret_lineage}) WHERE value = ${holderId})`
}

type NewKey = Pick<
  typeof apiKeys.$inferSelect,
  'id' | 'project_id' | 'name' | 'scopes' | 'expires_at' | 'created_by' | 'minter_email'
>

/**
 * Inserts a key.
 *
 * @returns null if the project has or had a key with this id; nothing changes then
 * @throws {Fault} `key_limit_reached`, `rate_limited`
 */
export async function insertKey(
  db: Db,
  fields: NewKey,
  { hash, key_prefix }: NewSecret,
  change: Change,
): Promise<KeyRow | null> {
  const { id, project_id, name, scopes } = fields
  const live = db.$count(apiKeys, and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at)))
  const row = { ...fields, hash, key_prefix, created_at: change.now, secret_issued_to: change.actor.id }
  const minted = revokedSince(db, project_id, change.now - DAY)
  const hasRoom = sql`${live} < ${MAX_LIVE_KEYS} AND (SELECT count(*) FROM ${minted}) < ${MAX_MINTED_A_DAY - MAX_LIVE_KEYS}`
  const { key } = await batch(db, {
    ...audited(
      db,
      change,
      keyEntry(project_id, id, 'api_key.minted', { name, scopes }),
      insertWhere(db, apiKeys, row, hasRoom).onConflictDoNothing({ target: apiKeys.id }),
    ),
    ...keptWith(db, change, id, key_prefix),
    key: selectKeys(db, and(eq(apiKeys.id, id), eq(apiKeys.hash, hash))),
  })
  if (key[0]) return key[0]
  const [earlier] = await run(db, findKeyEver(db, project_id, id))
  if (earlier) return null
  const today = await run(db, revokedSince(db, project_id, change.now - DAY))
  if (today.length >= MAX_MINTED_A_DAY - MAX_LIVE_KEYS) throw mintedTooMany()
  throw new Fault('key_limit_reached', `A project can have ${MAX_LIVE_KEYS} live API keys. Revoke one first.`)
}

/** The keys of the last day that were revoked since, up to the number at which no more can be minted. */
function revokedSince(db: Db, projectId: string, since: number) {
  const recent = gt(apiKeys.id, idFloor('key', since))
  return db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, projectId), isNotNull(apiKeys.revoked_at), recent))
    .limit(MAX_MINTED_A_DAY - MAX_LIVE_KEYS)
}

function mintedTooMany(): Fault {
  const limit = { name: 'api_keys_minted', requests: MAX_MINTED_A_DAY, window: DAY / SECOND }
  const detail = `A project can mint ${MAX_MINTED_A_DAY.toLocaleString('en')} API keys in a day. Try again later.`
  return overLimit(limit, detail, HOUR / SECOND)
}

/** Records a use, unless one was recorded in the last minute. The condition holds whatever the caches say. */
export async function touchKey(db: Db, id: string, now: number): Promise<void> {
  const stale = or(isNull(apiKeys.last_used_at), lte(apiKeys.last_used_at, now - LAST_USED_EVERY))
  const live = and(eq(apiKeys.id, id), isNull(apiKeys.revoked_at), stale)
  await run(db, db.update(apiKeys).set({ last_used_at: now }).where(live))
}

/** Reads keys as {@link KeyRow}. */
export function selectKeys(db: Db, condition: SQL | undefined) {
  return db
    .select(keyFields)
    .from(apiKeys)
    .leftJoin(holderKey, eq(holderKey.id, apiKeys.secret_issued_to))
    .where(condition)
}

/** The key of the project with this id, live or not. */
export function keysOfProject(projectId: string, id: string) {
  return and(eq(apiKeys.id, id), eq(apiKeys.project_id, projectId))
}

/** An audit entry about a key. */
export const keyEntry = entriesOf('api_key')
