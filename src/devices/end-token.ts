import { audited, type Change, entriesOf } from '../audit/store'
import { findDeviceTokens } from '../consumers/devices'
import { findConsumer, requireConsumer } from '../consumers/read'
import type { NamedConsumer } from '../consumers/ref'
import { batch, type Db } from '../db/client'
import { deviceNotFound, tokenConflict } from './faults'
import { swapped } from './rotate'
import { pendingToken, previousToken } from './verify'

const entryOf = entriesOf('device')

/**
 * Ends the token of a device that waits for its first use, or the one before its current token. If there is none, nothing changes.
 *
 * @throws {Fault} `not_found`, `consumer_merged`; `rotation_conflict` if the tokens changed meanwhile and this one still is one of them
 */
export async function endToken(
  db: Db,
  { project_id, ref, id, which }: NamedConsumer & { id: string; which: 'pending' | 'previous' },
  change: Change,
): Promise<void> {
  const read = { consumer: findConsumer(db, project_id, ref), devices: findDeviceTokens(db, project_id, ref, id) }
  const { consumer, devices } = await batch(db, read)
  const { id: owner } = requireConsumer(consumer)
  const [device] = devices
  if (!device) throw deviceNotFound()
  const [token, hash] =
    which === 'pending'
      ? [pendingToken(device, change.now), device.pending_hash]
      : [previousToken(device, change.now), device.previous_hash]
  if (!token) return
  const none = which === 'pending' ? { pending: null, pending_hash: null } : { previous: null, previous_hash: null }
  const details = { consumer: owner, token_prefix: token.token_prefix }
  const entry = entryOf(project_id, id, `device.${which}_token_ended`, details)
  const { left } = await batch(
    db,
    {
      ...audited(db, change, entry, swapped(db, project_id, device, none)),
      left: findDeviceTokens(db, project_id, ref, id),
    },
    { idempotent: true }, // a repetition finds no such token
  )
  const isLeft = left.some((one) => [one.token_hash, one.pending_hash, one.previous_hash].includes(hash))
  if (isLeft) throw tokenConflict()
}
