import { and, eq, inArray, isNull, or } from 'drizzle-orm'
import { audited, auditedEach, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { valuesOf } from '../db/sql'
import { type AddedSecrets, findSecretsAddedBy } from '../inbox/connections/secrets'
import { notFound } from '../lib/fault'
import { keyEntry, keysOfProject } from './key'
import { MAX_LIVE_KEYS } from './limits'
import { apiKeys } from './schema'
import { handedOther, handedThrough } from './secrets'

/**
 * Revokes a key. Revoking it again changes nothing.
 *
 * @param key.issued whether to revoke, in the same transaction, every key of which a secret that works or waits went through its hands
 * @returns with `issued`, the connections with signing secrets that these keys added; else none
 * @throws {Fault} `not_found`
 */
export async function revokeKey(
  db: Db,
  { project_id, id, issued }: { project_id: string; id: string; issued: boolean },
  change: Change,
): Promise<AddedSecrets[]> {
  const revoked_at = change.now
  const ended = db
    .update(apiKeys)
    .set({ revoked_at })
    .where(and(keysOfProject(project_id, id), isNull(apiKeys.revoked_at)))
  const own = {
    ...audited(db, change, keyEntry(project_id, id, 'api_key.revoked'), ended),
    found: db.select({ id: apiKeys.id }).from(apiKeys).where(keysOfProject(project_id, id)),
  }
  const { found, added } = issued
    ? await batch(db, { ...own, ...revokedWith(db, { project_id, id }, change) })
    : { ...(await batch(db, own)), added: [] }
  if (found.length === 0) throw notFound('API key')
  return added
}

/**
 * Revokes keys of a project, with an audit row for each. Those that are not live stay as they are.
 *
 * @returns the ids of the keys that this has revoked
 */
export async function revokeKeys(
  db: Db,
  { project_id, ids }: { project_id: string; ids: readonly string[] },
  change: Change,
): Promise<string[]> {
  const these = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at), inArray(apiKeys.id, valuesOf(ids)))
  const objects = db.select({ id: apiKeys.id }).from(apiKeys).where(these)
  const { object_id: _, ...each } = keyEntry(project_id, '', 'api_key.revoked')
  const { ended } = await batch(db, {
    audited: auditedEach(db, change, each, { objects, most: MAX_LIVE_KEYS }),
    ended: db.update(apiKeys).set({ revoked_at: change.now }).where(these).returning({ id: apiKeys.id }),
  })
  return ended.map(({ id }) => id)
}

/** Reads the connections with signing secrets that these keys added, or that a key added whose secret one of them was handed. */
export function findSecretsAddedThrough(db: Db, projectId: string, ids: readonly string[], now: number) {
  const these = valuesOf(ids)
  const through = and(eq(apiKeys.project_id, projectId), or(inArray(apiKeys.id, these), handedThrough(these, now)))
  return findSecretsAddedBy(db, projectId, db.select({ id: apiKeys.id }).from(apiKeys).where(through))
}

/** Revokes what a key was handed, with an audit row for each. A revoked key may have been handed something too. */
function revokedWith(db: Db, { project_id, id }: { project_id: string; id: string }, change: Change) {
  const handed = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at), handedThrough(id, change.now))
  const objects = db.select({ id: apiKeys.id }).from(apiKeys).where(handed)
  const { object_id: _, ...each } = keyEntry(project_id, id, 'api_key.revoked', { revoked_with: id })
  return {
    auditedWith: auditedEach(db, change, each, { objects, most: MAX_LIVE_KEYS }),
    endedWith: db.update(apiKeys).set({ revoked_at: change.now }).where(handed),
    added: findSecretsAddedThrough(db, project_id, [id], change.now),
  }
}

/**
 * Revokes the live keys of a project that a user minted, or of which the user was handed a secret that works or waits, also if the key has
 * rotated itself since. With an audit row for each.
 */
export async function revokeOfUser(
  db: Db,
  { project_id, user_id }: { project_id: string; user_id: string },
  change: Change,
): Promise<void> {
  const handed = or(handedOther(user_id, change.now), handedThrough(user_id, change.now))
  const known = or(eq(apiKeys.created_by, user_id), eq(apiKeys.secret_issued_to, user_id), handed)
  const theirs = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at), known)
  const objects = db.select({ id: apiKeys.id }).from(apiKeys).where(theirs)
  const { object_id: _, ...each } = keyEntry(project_id, '', 'api_key.revoked', { with_member: user_id })
  await batch(
    db,
    {
      audited: auditedEach(db, change, each, { objects, most: MAX_LIVE_KEYS }),
      ended: db.update(apiKeys).set({ revoked_at: change.now }).where(theirs),
    },
    { idempotent: true }, // the second time, there is no such key
  )
}
