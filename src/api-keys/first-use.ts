import { and, eq, isNull, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch } from '../db/client'
import { insertWhere } from '../db/insert-where'
import type { Runtime } from '../env'
import { rotationSaid } from '../lib/rotation'
import { SECOND } from '../lib/time'
import type { Keyring } from './credential'
import { keyEntry } from './key'
import { apiKeys, type PendingSecret, type PreviousSecret, retiredSecrets } from './schema'
import { retiredRow } from './secrets'

/** Of the row of a key: what it says about its current secret. */
type Current = {
  key_prefix: string
  issued_to: string
  secret_lineage: string[] | null
  last_used_at: number | null
}

/** The current secret as the one before the current one, for so long. `grace_s` 0: null, it ends at once. */
export function asPrevious(
  { key_prefix, issued_to, secret_lineage: lineage, last_used_at }: Current,
  grace_s: number,
  now: number,
): PreviousSecret | null {
  if (grace_s === 0) return null
  return { key_prefix, issued_to, lineage, replaced_at: now, valid_until: now + grace_s * SECOND, last_used_at }
}

/**
 * Makes the secret that waits the current one, because it was used: a compare-and-swap, so of many first uses one does it. The
 * secret before it works on for as long as the rotation said. A previous one of an earlier rotation ends.
 *
 * @returns what the key is after that: its current hash, and when it was revoked
 */
export async function makeCurrent(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  key: Keyring & { pending: PendingSecret; pending_hash: string },
  request: Pick<Change, 'request_id' | 'client_request_id'>,
): Promise<Pick<Keyring, 'hash' | 'revoked_at'> | undefined> {
  const { id, project_id, pending, pending_hash } = key
  const { key_prefix, issued_to, lineage, grace_s } = pending
  const previous = asPrevious(key, grace_s, now)
  const swapped = db
    .update(apiKeys)
    .set({
      key_prefix,
      hash: pending_hash,
      last_used_at: now,
      secret_issued_to: issued_to,
      secret_lineage: lineage,
      pending_hash: null,
      pending: null,
      previous_hash: previous && key.hash,
      previous,
    })
    .where(
      and(
        eq(apiKeys.id, id),
        eq(apiKeys.hash, key.hash),
        eq(apiKeys.pending_hash, pending_hash),
        isNull(apiKeys.revoked_at),
      ),
    )
  const change = { ...request, actor: { type: 'api_key' as const, id }, now }
  const details = { key_prefix, begun_by: issued_to, ...rotationSaid({ grace_s }) }
  const { rows } = await batch(
    db,
    {
      ...audited(db, change, keyEntry(project_id, id, 'api_key.rotation_completed', details), swapped),
      retired: insertWhere(db, retiredSecrets, retiredRow(id, key.hash, now), sql`changes() > 0`),
      rows: db.select({ hash: apiKeys.hash, revoked_at: apiKeys.revoked_at }).from(apiKeys).where(eq(apiKeys.id, id)),
    },
    { idempotent: true }, // the second time, the secret no longer waits
  )
  return rows[0]
}
