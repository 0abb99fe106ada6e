import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import type { Actor } from '../http/actor'
import { projectOf } from '../http/auth'
import { secretNotReplayable } from '../http/idempotency'
import type { Kept } from '../idempotency/claim'
import { SECRET_AGAIN_WITHIN } from '../idempotency/limits'
import { Fault, notFound } from '../lib/fault'
import { MINUTE } from '../lib/time'
import type { Minted } from './mint'
import { rotateKey } from './rotate'
import { newSecret } from './secret'

/**
 * Answers a repeated mint: the same key with a new secret. The caller has lost the first one, which stops working.
 *
 * @throws {Fault} `secret_not_replayable` if somebody may have the secret: the key was used, it has got another secret since, or
 *   the mint was too long ago; `not_found` if the key was revoked; `insufficient_role`, `confirmation_required`
 */
export async function mintAgain(rt: Runtime, actor: Actor, kept: Kept, change: Change): Promise<Minted> {
  const { object_id: id, key_prefix, at } = kept
  if (at <= change.now - SECRET_AGAIN_WITHIN) {
    throw secretNotReplayable(kept, `it was minted more than ${SECRET_AGAIN_WITHIN / MINUTE} minutes ago`)
  }
  const secret = await newSecret(rt.store)
  const key = { project_id: projectOf(actor), id, actor, known: key_prefix ?? '', unused: true }
  try {
    return { row: await rotateKey(rt.db, key, secret, change), secret: secret.secret }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.fault === 'rotation_of_revoked_key') throw notFound('API key')
    if (error.fault === 'rotation_of_expired_key') throw secretNotReplayable(kept, 'it has expired')
    if (error.fault === 'rotation_conflict') {
      throw secretNotReplayable(kept, 'it was used, or has got another secret since')
    }
    throw error
  }
}
