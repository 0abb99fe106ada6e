import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import * as z from 'zod'
import { audited, type Change } from '../audit/store'
import { batch, type Db, type Query, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import type { Actor } from '../http/actor'
import { named } from '../http/fields'
import { keptWith } from '../idempotency/claim'
import { Fault } from '../lib/fault'
import { MAX_GRACE_S, NEW_SECRET_WAITS, rotationSaid } from '../lib/rotation'
import { DAY } from '../lib/time'
import { rotationConflict } from './faults'
import { asPrevious } from './first-use'
import { type KeyRow, keyEntry, keysOfProject, selectKeys, USED_AT } from './key'
import { requireLasting, requireNarrower, requireOrdinary, requireSame, rotatable } from './rotatable'
import { apiKeys, type PendingSecret, retiredSecrets } from './schema'
import type { NewSecret } from './secret'
import { retiredRow, secretsSeen } from './secrets'

export const RotateBody = named(
  'RotateApiKey',
  z.strictObject({
    when: named('RotationTime', z.enum(['now', 'first_use']))
      .default('now')
      .describe(
        `When the new secret replaces the current one. \`now\`: immediately. \`first_use\`: with the first request that uses it. Until then, the current secret works. A new secret that is not used within ${NEW_SECRET_WAITS / DAY} days ends, and the current one stays.`,
      ),
    grace_s: z
      .int()
      .min(0)
      .max(MAX_GRACE_S)
      .default(0)
      .describe(
        'How many seconds the replaced secret keeps working. A key has at most one replaced secret that works: when another one is replaced, the older one ends.',
      ),
  }),
  { when: 'first_use', grace_s: 3600 },
)
type How = z.infer<typeof RotateBody>

type Stored = typeof apiKeys.$inferSelect
/** The API key that makes the call, as it is in the statement that writes. */
const caller = alias(apiKeys, 'caller')

export type Rotation = {
  project_id: string
  id: string
  /** The caller, who must have every scope of the key, and a confirmed session for some: `NEEDS_CONFIRMATION`. */
  actor: Actor
  /** By default, the new secret replaces the current one now. */
  how?: How
  /** The secrets that the caller has seen, as `secretsSeen` names them; any if it is not given. */
  known?: string | undefined
  /** Whether the key must never have been used or rotated. */
  unused?: boolean
  /** The `key_prefix` of the secret that waits for its first use, which must be replaced by one that waits too. */
  pending?: string
}

/**
 * Gives a key a new secret: a compare-and-swap on all that are there, so of two concurrent rotations exactly one succeeds. The swap
 * also requires that an API key which rotates another is still live with the same secret. A secret that waits is replaced.
 *
 * @throws {Fault} `not_found`, `rotation_of_revoked_key`, `rotation_of_expired_key`, `rotation_conflict`,
 *   `confirmation_required`, `insufficient_scope`, also where an API key rotates another that has an
 *   administrative scope; `key_expires_first`, `key_reaches_further`; `key_revoked` or `key_rotated` if that happened to the caller meanwhile, or if it
 *   does not use its current secret
 */
export async function rotateKey(db: Db, key: Rotation, secret: NewSecret, change: Change): Promise<KeyRow> {
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
  requireKnown(current, key)
  const by = otherKey ? requireLasting(rows, actorId, current) : null
  if (by) requireNarrower(by, current)
  const { hash, key_prefix } = secret
  const lineage = lineageOf(current, by, type)
  const { set, ended, action, more, isDone } = swapOf(current, key, { secret, change, lineage })
  const swapped = db
    .update(apiKeys)
    .set(set)
    .where(
      and(
        eq(apiKeys.id, id),
        eq(apiKeys.hash, current.hash),
        current.pending_hash === null ? isNull(apiKeys.pending_hash) : eq(apiKeys.pending_hash, current.pending_hash),
        isNull(apiKeys.revoked_at),
        key.unused ? isNull(apiKeys.last_used_at) : undefined,
        by ? stillLive(db, by) : undefined,
      ),
    )
  const details = { key_prefix, ...more }
  const found = () => selectKeys(db, and(keysOfProject(project_id, id), isDone(hash)))
  const committed = batch(
    db,
    {
      ...audited(db, change, keyEntry(project_id, id, action, details), swapped),
      // These follow the audit row, which is written only if the secret was swapped.
      ...keptWith(db, change, id, key_prefix),
      ...retiring(db, id, ended, change.now),
      rotated: found(),
      callers: db
        .select({ hash: apiKeys.hash, revoked_at: apiKeys.revoked_at })
        .from(apiKeys)
        .where(eq(apiKeys.id, by?.id ?? '')),
    },
    { idempotent: true }, // the second time, the secrets are no longer those to be swapped
  )
  const { rotated, callers } = await committed.catch(async (error) => ({
    rotated: await foundAfter(db, found(), error),
    callers: [],
  }))
  if (rotated[0]) return rotated[0]
  if (by) requireSame(by, callers[0])
  throw rotationConflict()
}

/** @throws {Fault} `rotation_conflict` if the key has not the secrets that the caller means */
function requireKnown(current: Stored, { known, unused, pending }: Rotation): void {
  const isOther = known !== undefined && known !== secretsSeen(current)
  const isUsed = unused && (current.last_used_at !== null || current.pending !== null)
  const isGone = pending !== undefined && pending !== current.pending?.key_prefix
  if (isOther || isUsed || isGone) throw rotationConflict()
}

type Made = { secret: NewSecret; change: Change; lineage: string[] | null }

/** What a rotation writes: the columns, the hashes of the secrets that it ends, and its audit entry; `isDone` tells whether it took place. */
function swapOf(current: Stored, key: Rotation, { secret: { hash, key_prefix }, change, lineage }: Made) {
  const { when, grace_s } = key.how ?? { when: 'now', grace_s: 0 }
  const { now, actor } = change
  const waiting = current.pending_hash === null ? [] : [current.pending_hash]
  if (when === 'first_use') {
    const expires_at = now + NEW_SECRET_WAITS
    const grace = key.pending === undefined ? grace_s : (current.pending?.grace_s ?? grace_s)
    const pending: PendingSecret = {
      key_prefix,
      created_at: now,
      expires_at,
      grace_s: grace,
      issued_to: actor.id,
      lineage,
    }
    return {
      set: { pending_hash: hash, pending },
      ended: waiting,
      action: 'api_key.rotation_pending',
      more: { begun_by: actor.id, ...rotationSaid({ when, grace_s: grace }) },
      isDone: (made: string) => eq(apiKeys.pending_hash, made),
    }
  }
  const issued_to = current.secret_issued_to ?? current.created_by
  const previous = asPrevious({ ...current, issued_to }, grace_s, now)
  const set = { key_prefix, hash, secret_issued_to: actor.id, secret_lineage: lineage }
  const others = { pending_hash: null, pending: null, previous_hash: previous && current.hash, previous }
  return {
    set: { ...set, ...others, last_used_at: USED_AT },
    ended: [current.hash, ...waiting],
    action: 'api_key.rotated',
    more: rotationSaid({ grace_s }),
    isDone: (made: string) => eq(apiKeys.hash, made),
  }
}

/** Each of them follows a statement that wrote a row, if the secret was swapped. */
function retiring(db: Db, id: string, ended: string[], now: number): Record<string, Query> {
  const rows = ended.map((hash, i) => [
    `retired${i}`,
    insertWhere(db, retiredSecrets, retiredRow(id, hash, now), sql`changes() > 0`),
  ])
  return Object.fromEntries(rows)
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
