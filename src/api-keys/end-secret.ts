import { and, eq, isNull, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { requireFound } from '../lib/fault'
import { rotationConflict } from './faults'
import { keyEntry, keysOfProject, USED_AT } from './key'
import { apiKeys, retiredSecrets } from './schema'
import { pendingOf, previousOf, retiredRow } from './secrets'

/**
 * Ends the secret of a key that waits for its first use, or the one before its current secret. If there is none, nothing changes.
 *
 * @throws {Fault} `not_found` if the key is not live; `rotation_conflict` if the secret that waits was used meanwhile: then it is the
 *   current one
 */
export async function endSecret(
  db: Db,
  { project_id, id, which }: { project_id: string; id: string; which: 'pending' | 'previous' },
  change: Change,
): Promise<void> {
  const { pending, pending_hash, previous, previous_hash } = apiKeys
  const live = and(keysOfProject(project_id, id), isNull(apiKeys.revoked_at))
  const found = db.select({ pending, pending_hash, previous, previous_hash }).from(apiKeys).where(live)
  const key = requireFound(await run(db, found), 'API key')
  const secret = which === 'pending' ? pendingOf(key, change.now) : previousOf(key, change.now)
  const hash = which === 'pending' ? key.pending_hash : key.previous_hash
  if (!secret || hash === null) return
  const column = which === 'pending' ? pending_hash : previous_hash
  const none = which === 'pending' ? { pending: null, pending_hash: null } : { previous: null, previous_hash: null }
  const ended = db
    .update(apiKeys)
    .set({ ...none, last_used_at: which === 'previous' ? USED_AT : undefined })
    .where(and(live, eq(column, hash)))
  const { key_prefix } = secret
  const { rows } = await batch(
    db,
    {
      ...audited(db, change, keyEntry(project_id, id, `api_key.${which}_secret_ended`, { key_prefix }), ended),
      // The one before the current secret is there already.
      retired: insertWhere(
        db,
        retiredSecrets,
        retiredRow(id, hash, change.now),
        sql`changes() > 0`,
      ).onConflictDoNothing(),
      rows: db.select({ hash: apiKeys.hash }).from(apiKeys).where(keysOfProject(project_id, id)),
    },
    { idempotent: true }, // the second time, there is no such secret
  )
  if (rows[0]?.hash === hash) throw rotationConflict()
}
