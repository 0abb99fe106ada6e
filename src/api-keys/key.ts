import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditLog } from '../audit/schema'
import { audited, type Change, entriesOf } from '../audit/store'
import { batch, type Db, type Held, prepared, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { valuesOf } from '../db/sql'
import { overLimit } from '../http/rate-limit'
import { keptWith } from '../idempotency/claim'
import { Fault } from '../lib/fault'
import { idFloor } from '../lib/ids'
import { DAY, HOUR, SECOND } from '../lib/time'
import { projects } from '../tenancy/schema'
import { MAX_LIVE_KEYS, MAX_MINTED_A_DAY } from './limits'
import { apiKeys } from './schema'
import type { NewSecret } from './secret'
import { type HolderId, handedOther, handedThrough, isHolder, pendingOf, previousOf } from './secrets'

/** Whom the current secret was handed to. */
export const ISSUED_TO = sql<string>`coalesce(${apiKeys.secret_issued_to}, ${apiKeys.created_by})`
/** The end of the lineage of a secret. Only there can a user be: see `lineageOf` in rotate.ts. */
export const HANDED_FIRST = sql<string | null>`(${apiKeys.secret_lineage} ->> '$[#-1]')`
/** When a key was last used, with whichever secret: `last_used_at` of its row is of the current one and those before it. */
export const USED_AT = sql<
  number | null
>`nullif(max(coalesce(${apiKeys.last_used_at}, 0), coalesce(${apiKeys.previous} ->> '$.last_used_at', 0)), 0)`
const holderKey = alias(apiKeys, 'holder_key')
const keyFields = {
  id: apiKeys.id,
  name: apiKeys.name,
  key_prefix: apiKeys.key_prefix,
  scopes: apiKeys.scopes,
  expires_at: apiKeys.expires_at,
  created_by: apiKeys.created_by,
  created_at: apiKeys.created_at,
  last_used_at: USED_AT.as('last_used_at'),
  /** Of the current secret, and of those before it that no longer work. */
  current_used_at: sql<number | null>`${apiKeys.last_used_at}`.as('current_used_at'),
  last_use: apiKeys.last_use,
  revoked_at: apiKeys.revoked_at,
  allowed_networks: apiKeys.allowed_networks,
  rate_limit: apiKeys.rate_limit,
  pending: apiKeys.pending,
  previous: apiKeys.previous,
  minter_email: apiKeys.minter_email,
  issued_to: ISSUED_TO.as('issued_to'),
  handed_first: HANDED_FIRST.as('handed_first'),
  issued_to_name: sql<string | null>`${holderKey.name}`.as('issued_to_name'),
}

/** A key as listed: without its hash. */
export type KeyRow = ReturnType<typeof listKeys>['_']['result'][number]
/**
 * The users that the administrative scopes of a key depend on: who minted it, and then the user who was handed the secret, also
 * where the key has rotated itself since.
 */
export function usersOf(key: Pick<KeyRow, 'created_by' | 'issued_to' | 'handed_first'>): string[] {
  const handed = [key.handed_first ?? '', key.issued_to].filter((id) => id.startsWith('usr_'))
  return [...new Set([key.created_by, ...handed])]
}

/** A key as its holder has it who uses a secret besides the current one. */
export function heldBy<K extends { created_by: string }>(
  key: K,
  { issued_to, lineage }: { issued_to: string; lineage: string[] | null },
) {
  return { ...key, issued_to, handed_first: lineage?.at(-1) ?? null }
}

/** The users who minted a key or were handed one of its secrets, also one that waits or is being replaced. */
export function holdersOf(row: KeyRow, now: number): string[] {
  const others = [pendingOf(row, now), previousOf(row, now)].filter((one) => one !== null)
  return [...new Set([row, ...others.map((one) => heldBy(row, one))].flatMap(usersOf))]
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

/** Reads the keys with these ids that are, or once were, live in the project. */
export function findKeysEver(db: Db, projectId: string, ids: readonly string[]) {
  return selectKeys(db, and(eq(apiKeys.project_id, projectId), inArray(apiKeys.id, valuesOf(ids)))).orderBy(
    desc(apiKeys.id),
  )
}

type KeysHeld = {
  project_id: Held<string>
  before: Held<string> | null
  limit: Held<number>
  now: Held<number>
  issuedTo?: Held<string> | undefined
  unusedSince?: Held<number> | undefined
}

/**
 * Reads the project's live keys, newest first, starting after the key `before`. `issuedTo`: only those of which this user or API
 * key was handed a secret that works or waits. `unusedSince`: only those that were minted and last used before that (ms).
 */
export const listKeys = prepared((db: Db, { project_id, before, limit, now, issuedTo, unusedSince }: KeysHeld) => {
  const live = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at))
  const issued = issuedTo && wasHanded(issuedTo, now)
  const unused = unusedSince && sql`coalesce(${USED_AT}, ${apiKeys.created_at}) <= ${unusedSince}`
  return selectKeys(db, and(live, issued, unused, before === null ? undefined : lt(apiKeys.id, before)))
    .orderBy(desc(apiKeys.id))
    .limit(limit)
})

/** Reads the live keys of which one of these keys was handed a secret that works or waits, without these keys themselves. */
export function findHandedBy(
  db: Db,
  { project_id, ids, now }: { project_id: string; ids: readonly string[]; now: number },
) {
  const live = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at))
  const isOther = notInArray(apiKeys.id, valuesOf(ids))
  return selectKeys(db, and(live, isOther, wasHanded(valuesOf(ids), now)))
    .orderBy(desc(apiKeys.id))
    .limit(MAX_LIVE_KEYS)
}

function wasHanded(holder: HolderId, now: number | Held<number>) {
  return or(isHolder(ISSUED_TO, holder), handedOther(holder, now), handedThrough(holder, now))
}

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
    .select({ last_used_at: USED_AT.as('last_used_at') })
    .from(first)
    .innerJoin(apiKeys, eq(apiKeys.id, first.object_id))
    .where(and(eq(first.action, 'api_key.minted'), isNotNull(apiKeys.revoked_at)))
}

type NewKey = Pick<
  typeof apiKeys.$inferSelect,
  | 'id'
  | 'project_id'
  | 'name'
  | 'scopes'
  | 'expires_at'
  | 'created_by'
  | 'minter_email'
  | 'allowed_networks'
  | 'rate_limit'
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
  const bounds = boundsOf(fields)
  const live = db.$count(apiKeys, and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at)))
  const row = { ...fields, hash, key_prefix, created_at: change.now, secret_issued_to: change.actor.id }
  const minted = revokedSince(db, project_id, change.now - DAY)
  const hasRoom = sql`${live} < ${MAX_LIVE_KEYS} AND (SELECT count(*) FROM ${minted}) < ${MAX_MINTED_A_DAY - MAX_LIVE_KEYS}`
  const { key } = await batch(db, {
    ...audited(
      db,
      change,
      keyEntry(project_id, id, 'api_key.minted', { name, scopes, ...bounds }),
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

/** Where a key may be used and how often, as the audit log has it; nothing where it is not limited. */
export function boundsOf({ allowed_networks, rate_limit }: Pick<NewKey, 'allowed_networks' | 'rate_limit'>) {
  return { ...(allowed_networks && { allowed_networks }), ...(rate_limit !== null && { rate_limit }) }
}

/** An audit entry about a key. */
export const keyEntry = entriesOf('api_key')
