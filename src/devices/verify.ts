import { and, eq, lte, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Device, shownOfDevice } from '../consumers/devices'
import { consumerWithId } from '../consumers/read'
import { devices } from '../consumers/schema'
import { type Db, raw, run } from '../db/client'
import { type FeaturesAsked, factsOfId } from '../entitlements/read'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { LAST_SEEN_EVERY } from './limits'

/** Why a token is not valid, in the order in which they are looked at. */
export const INVALID_REASONS = ['unknown', 'revoked', 'consumer_blocked'] as const

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

const d = alias(devices, 'd')

/** Reads the device of the project that has this token, and its consumer. */
export function byToken(db: Db, projectId: string, hash: string) {
  return {
    devices: raw(db, shownOfDevice, (fields) => sql`SELECT ${fields} ${withToken(projectId, hash)}`),
    consumers: consumerWithId(db, projectId, ownerOf(projectId, hash)),
  }
}

/** Reads, in addition, what decides what the consumer may do with these features. */
export function factsByToken(db: Db, projectId: string, hash: string, asked: FeaturesAsked) {
  return factsOfId(db, projectId, ownerOf(projectId, hash), asked)
}

function withToken(projectId: string, hash: string): SQL {
  return sql`FROM ${devices} ${d} WHERE ${d.project_id} = ${projectId} AND ${d.token_hash} = ${hash}`
}

/** The id of the consumer whose device has this token, as an expression. */
function ownerOf(projectId: string, hash: string): SQL {
  return sql`(SELECT ${d.consumer_id} ${withToken(projectId, hash)})`
}

/** Records that the device with this token was seen, unless that was recorded within the hour. */
async function touchDevice(db: Db, projectId: string, hash: string, now: number): Promise<void> {
  const stale = lte(devices.last_seen_at, now - LAST_SEEN_EVERY)
  const isIt = and(eq(devices.project_id, projectId), eq(devices.token_hash, hash), eq(devices.state, 'active'), stale)
  await run(db, db.update(devices).set({ last_seen_at: now }).where(isIt))
}
