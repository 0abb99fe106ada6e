import { and, eq, lte, sql } from 'drizzle-orm'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Db, raw } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { keptWith } from '../idempotency/claim'
import { isDeleted } from '../tenancy/project'
import { firstKeyInserted, hasCurrent, isCurrent, isOtherKey, k, listTokenKeys, other, type TokenKey } from './keys'
import { MAX_RETIRED, NEXT_AFTER, PUBLISHED_FOR, RETIRED_FOR, ROTATE_AFTER } from './limits'
import { entitlementKeys } from './schema'
import type { SigningKey } from './signing'

/**
 * Puts another key in the place of the one that signs: the next one if there is one, else the new one. The old key stays
 * published for the tokens that it has signed.
 *
 * @param made the new key
 * @returns the keys of the project afterwards. `rotated` is false if nothing has changed, because {@link MAX_RETIRED} keys are
 *   published for their tokens already
 */
export async function rotateKeys(
  db: Db,
  projectId: string,
  made: SigningKey,
  change: Change,
): Promise<{ rows: TokenKey[]; rotated: boolean }> {
  const { now } = change
  const ofProject = eq(entitlementKeys.project_id, projectId)
  const isRetired = and(ofProject, eq(entitlementKeys.state, 'retired'))
  const room = sql`(SELECT count(*) FROM ${entitlementKeys} ${k}
    WHERE ${k.project_id} = ${projectId} AND ${k.state} = 'retired') < ${MAX_RETIRED}`
  const { rows, turned } = await batch(db, {
    // Their tokens have ended. The cron deletes them too, once an hour.
    ended: db.delete(entitlementKeys).where(and(isRetired, lte(entitlementKeys.state_at, now - RETIRED_FOR))),
    retired: db
      .update(entitlementKeys)
      .set(retiring(now))
      .where(and(isCurrent(projectId), room)),
    promoted: db
      .update(entitlementKeys)
      .set({ state: 'current', state_at: now })
      .where(and(ofProject, eq(entitlementKeys.state, 'next'), sql`NOT ${hasCurrent(projectId)}`)),
    inserted: firstKeyInserted(db, projectId, made, now),
    audit: rotated(db, projectId, false, change),
    ...keptWith(db, change, projectId),
    turned: db
      .select({ kid: entitlementKeys.kid })
      .from(entitlementKeys)
      .where(and(isCurrent(projectId), eq(entitlementKeys.state_at, now))),
    rows: listTokenKeys(db, projectId),
  })
  return { rows, rotated: turned.length > 0 }
}

/**
 * Puts a new key in the place of all keys of a project, because somebody else may have them: tokens that they have signed are no
 * longer valid.
 *
 * @param made the new key
 * @returns the keys of the project afterwards
 */
export async function replaceKeys(db: Db, projectId: string, made: SigningKey, change: Change): Promise<TokenKey[]> {
  const { rows } = await batch(db, {
    gone: db.delete(entitlementKeys).where(eq(entitlementKeys.project_id, projectId)),
    inserted: firstKeyInserted(db, projectId, made, change.now),
    audit: rotated(db, projectId, true, change),
    ...keptWith(db, change, projectId),
    rows: listTokenKeys(db, projectId),
  })
  return rows
}

/** The entry of a rotation, about the key that signs from then on; none if there was no rotation. */
function rotated(db: Db, projectId: string, compromised: boolean, change: Change) {
  const about = {
    action: 'entitlement_key.rotated',
    object_type: 'entitlement_key',
    object_id: '',
    details: { compromised },
  }
  return auditedFrom(db, change, about, {
    taken: { project_id: entitlementKeys.project_id, object_id: entitlementKeys.kid },
    from: sql`FROM ${entitlementKeys} WHERE ${and(isCurrent(projectId), eq(entitlementKeys.state_at, change.now))}`,
  })
}

/** What a retired key changes into. Nothing can be signed with it any more. */
function retiring(now: number) {
  return { state: 'retired' as const, state_at: now, key: null, box: null }
}

/**
 * What the cron does to the keys of a store, for one batch: deletes those whose tokens have all ended, and puts the next key in
 * the place of one that is old enough. `due`: projects whose key needs a successor.
 *
 * @param most keys of each kind
 */
export function keysRenewed(db: Db, now: number, most: number) {
  const gone = sql`SELECT ${k.project_id}, ${k.kid} FROM ${entitlementKeys} ${k} INDEXED BY entitlement_keys_age
    WHERE ${and(eq(k.state, 'retired'), lte(k.state_at, now - RETIRED_FOR))} LIMIT ${most}`
  const hasNext = and(isOtherKey(sql`${k.project_id}`, 'next'), lte(other.state_at, now - PUBLISHED_FOR))
  const old = sql`SELECT ${k.project_id}, ${k.kid} FROM ${entitlementKeys} ${k} INDEXED BY entitlement_keys_age
    WHERE ${and(eq(k.state, 'current'), lte(k.state_at, now - ROTATE_AFTER))}
      AND EXISTS (SELECT 1 FROM ${entitlementKeys} ${other} WHERE ${hasNext}) LIMIT ${most}`
  const justRetired = sql`SELECT ${k.project_id} FROM ${entitlementKeys} ${k} INDEXED BY entitlement_keys_age
    WHERE ${and(eq(k.state, 'retired'), eq(k.state_at, now))}`
  const { project_id, kid } = entitlementKeys
  return {
    gone: db.delete(entitlementKeys).where(sql`(${project_id}, ${kid}) IN (${gone})`).returning({ kid }),
    retired: db
      .update(entitlementKeys)
      .set(retiring(now))
      .where(sql`(${project_id}, ${kid}) IN (${old})`)
      .returning({ kid }),
    promoted: db
      .update(entitlementKeys)
      .set({ state: 'current', state_at: now })
      .where(sql`${project_id} IN (${justRetired}) AND ${eq(entitlementKeys.state, 'next')}`),
    due: raw(
      db,
      { project_id: k.project_id },
      (fields) => sql`SELECT ${fields} FROM ${entitlementKeys} ${k} INDEXED BY entitlement_keys_age
        WHERE ${and(eq(k.state, 'current'), lte(k.state_at, now - NEXT_AFTER))} AND NOT ${isDeleted(k.project_id)}
          AND NOT EXISTS (SELECT 1 FROM ${entitlementKeys} ${other} WHERE ${isOtherKey(sql`${k.project_id}`, 'next')})
        ORDER BY ${k.state_at} LIMIT ${most}`,
    ),
  }
}

/** Publishes successors of the keys of projects. A project that has one, or that has lost its key, is passed over. */
export function nextInserted(db: Db, made: readonly (SigningKey & { project_id: string })[], now: number) {
  const at = sql`CAST(${now} AS INTEGER)`
  return insertFrom(
    db,
    entitlementKeys,
    {
      project_id: k.project_id,
      kid: sql`j.value ->> 'kid'`,
      state: sql`'next'`,
      public: sql`j.value -> 'public'`,
      key: sql`j.value ->> 'key'`,
      box: sql`j.value ->> 'box'`,
      created_at: at,
      state_at: at,
    },
    sql`FROM json_each(${JSON.stringify(made)}) j
      CROSS JOIN ${entitlementKeys} ${k} ON ${k.project_id} = j.value ->> 'project_id' AND ${k.state} = 'current'
      WHERE NOT EXISTS (SELECT 1 FROM ${entitlementKeys} ${other} WHERE ${isOtherKey(sql`${k.project_id}`, 'next')})`,
  )
}
