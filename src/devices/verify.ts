import type { Device } from '../consumers/devices'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { LAST_SEEN_EVERY } from './limits'
import { touchDevice } from './verify-store'

/** Why a token is not valid, in the order in which they are looked at. */
export const REASONS = ['unknown', 'revoked', 'consumer_blocked'] as const

/** Why the token of a device that was found is not valid; null if it is. */
export function reasonOf(
  device: Pick<Device, 'state'>,
  consumer: { state: string },
): 'revoked' | 'consumer_blocked' | null {
  if (device.state === 'revoked') return 'revoked'
  return consumer.state === 'blocked' ? 'consumer_blocked' : null
}

/** Records after the response that a device was seen, at most once an hour. A failure here never fails the request. */
export function recordSeen(rt: Runtime, projectId: string, device: Device, hash: string): void {
  if (device.last_seen_at > rt.now - LAST_SEEN_EVERY) return
  rt.waitUntil(
    touchDevice(rt.db, projectId, hash, rt.now).catch((error) =>
      writeLog('warn', 'last_seen_at_not_recorded', { device_id: device.id, error: String(error) }),
    ),
  )
}
