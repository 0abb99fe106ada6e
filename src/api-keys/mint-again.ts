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
import { type Rotation, rotateKey } from './rotate'
import { newSecret } from './secret'

/**
 * Answers a repeated mint: the same key with a new secret. The caller has lost the first one, which stops working.
 *
 * @throws {Fault} `secret_not_replayable` if somebody may have the secret: the key was used, it has got another secret since, or
 *   the mint was too long ago; `not_found` if the key was revoked; `insufficient_role`, `confirmation_required`
 */
export function mintAgain(rt: Runtime, actor: Actor, kept: Kept, change: Change): Promise<Minted> {
  const rotation = { known: kept.key_prefix ?? '', unused: true }
  return secretAgain(rt, { actor, kept, rotation, otherwise: 'it has since been used or rotated' }, change)
}

/**
 * Answers a repeated rotation: if its secret still waits for its first use, another one takes its place. The caller has lost the first
 * one, which never works.
 *
 * @throws {Fault} as {@link mintAgain}; `secret_not_replayable` also if the secret is or was the current one
 */
export function rotateAgain(rt: Runtime, actor: Actor, kept: Kept, change: Change): Promise<Minted> {
  const rotation = { how: { when: 'first_use', grace_s: 0 }, pending: kept.key_prefix ?? '' } as const
  const otherwise = 'the secret that the rotation returned no longer waits for its first use'
  return secretAgain(rt, { actor, kept, rotation, otherwise }, change)
}

type Again = {
  actor: Actor
  kept: Kept
  rotation: Omit<Rotation, 'project_id' | 'id' | 'actor'>
  /** Why there is no new secret if the key has not the secrets that the rotation needs. */
  otherwise: string
}

async function secretAgain(rt: Runtime, { actor, kept, rotation, otherwise }: Again, change: Change): Promise<Minted> {
  if (kept.at <= change.now - SECRET_AGAIN_WITHIN) {
    throw secretNotReplayable(kept, `it was returned more than ${SECRET_AGAIN_WITHIN / MINUTE} minutes ago`)
  }
  const secret = await newSecret(rt.store)
  const key = { project_id: projectOf(actor), id: kept.object_id, actor, ...rotation }
  try {
    return { row: await rotateKey(rt.db, key, secret, change), secret: secret.secret }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.fault === 'rotation_of_revoked_key') throw notFound('API key')
    if (error.fault === 'rotation_of_expired_key') throw secretNotReplayable(kept, 'it has expired')
    if (error.fault === 'rotation_conflict') throw secretNotReplayable(kept, otherwise)
    throw error
  }
}
