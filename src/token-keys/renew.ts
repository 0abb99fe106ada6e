import { batch, run } from '../db/client'
import type { Runtime } from '../env'
import { requireSealingKey } from '../inbox/connections/sealing'
import type { PassStep } from '../tenancy/pass'
import { RENEWED_KEYS } from './limits'
import { keysRenewed, nextInserted } from './rotate'
import { newSigningKey } from './signing'

/**
 * One step of the rotation of the keys that sign entitlement tokens: deletes retired keys whose tokens have ended, puts the next
 * key in the place of an old one, and makes a next key for one that is getting old.
 *
 * @returns `after` is null once there is nothing more to do
 * @throws {Fault} `encryption_key_unavailable` if the newest encryption key is not the right one
 */
export async function renewKeys(rt: Runtime): Promise<PassStep> {
  const { db, now, settings } = rt
  const { gone, retired, due } = await batch(db, keysRenewed(db, now, RENEWED_KEYS))
  if (due.length > 0) {
    await requireSealingKey(rt)
    const made = due.map(async ({ project_id }) => ({
      project_id,
      ...(await newSigningKey(settings.encryptionKeys, project_id)),
    }))
    await run(db, nextInserted(db, await Promise.all(made), now))
  }
  const more = [gone, retired, due].some((rows) => rows.length === RENEWED_KEYS)
  return { done: gone.length + retired.length + due.length, after: more ? 'more' : null }
}
