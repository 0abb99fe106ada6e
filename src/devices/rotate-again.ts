import type { Change } from '../audit/store'
import type { NamedConsumer } from '../consumers/ref'
import type { Db } from '../db/client'
import { secretNotReplayable } from '../http/idempotency'
import type { Kept } from '../idempotency/claim'
import { SECRET_AGAIN_WITHIN } from '../idempotency/limits'
import { Fault } from '../lib/fault'
import { MINUTE } from '../lib/time'
import { rotateDevice } from './rotate'
import { newDeviceToken } from './token'

/**
 * Answers a repeated rotation: if its token still waits for its first use, another one takes its place. The caller has lost the first
 * one, which never becomes valid.
 *
 * @throws {Fault} `secret_not_replayable` if the token no longer waits, or the rotation was too long ago; those of `rotateDevice`
 */
export async function rotateDeviceAgain(db: Db, of: NamedConsumer & { id: string }, kept: Kept, change: Change) {
  if (kept.at <= change.now - SECRET_AGAIN_WITHIN) {
    throw secretNotReplayable(kept, `it was returned more than ${SECRET_AGAIN_WITHIN / MINUTE} minutes ago`)
  }
  const made = await newDeviceToken()
  const how = { when: 'first_use', grace_s: 0 } as const
  try {
    const device = await rotateDevice(db, { ...of, how, pending: kept.key_prefix ?? '' }, made, change)
    return { device, token: made.token }
  } catch (error) {
    if (!(error instanceof Fault) || error.fault !== 'rotation_conflict') throw error
    throw secretNotReplayable(kept, 'the token that the rotation returned no longer waits for its first use')
  }
}
