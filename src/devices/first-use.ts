import { audited, type Change, entriesOf } from '../audit/store'
import type { PendingToken } from '../consumers/schema'
import { batch } from '../db/client'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { rotationSaid } from '../lib/rotation'
import { replacedToken, swapped } from './rotate'
import { byToken, type DeviceTokens } from './verify'

const entryOf = entriesOf('device')

/**
 * Makes the token that waits the current one, because it was verified: a compare-and-swap, so of many first uses one does it. The
 * token before it stays valid for as long as the rotation said. A previous one of an earlier rotation ends. If the database does
 * not write, the verification does not fail for it: the token still waits, and its next use tries again.
 *
 * @returns the device as it is then; null if the token is nothing to it any more
 */
export async function useFirst(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  { project_id, device }: { project_id: string; device: DeviceTokens },
  change: Change,
): Promise<DeviceTokens | null> {
  const { pending, pending_hash } = device
  if (pending === null || pending_hash === null) return null
  try {
    return await makeTokenCurrent({ db, now }, { project_id, device, pending, pending_hash }, change)
  } catch (error) {
    writeLog('warn', 'rotation_not_completed', { device_id: device.id, error: String(error) })
    return device
  }
}

type Waiting = { project_id: string; device: DeviceTokens; pending: PendingToken; pending_hash: string }

async function makeTokenCurrent(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  { project_id, device, pending, pending_hash }: Waiting,
  change: Change,
): Promise<DeviceTokens | null> {
  const { token_prefix, grace_s, begun_by } = pending
  const previous = replacedToken(device, grace_s, now)
  const set = {
    ...{ token_hash: pending_hash, token_prefix, pending_hash: null, pending: null },
    ...{ previous_hash: previous && device.token_hash, previous, last_seen_at: now },
  }
  const details = { consumer: device.consumer_id, token_prefix, begun_by, ...rotationSaid({ grace_s }) }
  const entry = entryOf(project_id, device.id, 'device.rotation_completed', details)
  const { rows } = await batch(
    db,
    {
      ...audited(db, change, entry, swapped(db, project_id, device, set)),
      rows: byToken(db, project_id, { hash: pending_hash, any: true }).devices,
    },
    { idempotent: true }, // the second time, the token no longer waits
  )
  return rows[0] ?? null
}
