import { and, eq, isNull } from 'drizzle-orm'
import { audited, auditedEach, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { MAX_LIVE_KEYS } from './limits'
import { apiKeys } from './schema'
import { entry, handedThrough, notFound, ofProject } from './store'

/**
 * Revokes a key. Revoking it again changes nothing.
 *
 * @param key.issued whether to revoke, in the same transaction, every key whose current secret went through its hands
 * @throws {Fault} `not_found`
 */
export async function revokeKey(
  db: Db,
  { project_id, id, issued }: { project_id: string; id: string; issued: boolean },
  change: Change,
): Promise<void> {
  const revoked_at = change.now
  const ended = db
    .update(apiKeys)
    .set({ revoked_at })
    .where(and(ofProject(project_id, id), isNull(apiKeys.revoked_at)))
  const { found } = await batch(db, {
    ...audited(db, change, entry(project_id, id, 'api_key.revoked'), ended),
    found: db.select({ id: apiKeys.id }).from(apiKeys).where(ofProject(project_id, id)),
    ...(issued && revokedWith(db, { project_id, id }, change)),
  })
  if (found.length === 0) throw notFound()
}

/** Revokes what a key was handed, with an audit row for each. A revoked key may have been handed something too. */
function revokedWith(db: Db, { project_id, id }: { project_id: string; id: string }, change: Change) {
  const handed = and(eq(apiKeys.project_id, project_id), isNull(apiKeys.revoked_at), handedThrough(id))
  const objects = db.select({ id: apiKeys.id }).from(apiKeys).where(handed)
  const { object_id: _, ...each } = entry(project_id, id, 'api_key.revoked', { revoked_with: id })
  return {
    auditedWith: auditedEach(db, change, each, { objects, most: MAX_LIVE_KEYS }),
    endedWith: db.update(apiKeys).set({ revoked_at: change.now }).where(handed),
  }
}
