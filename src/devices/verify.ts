import { and, eq, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Device, deviceWithHashes } from '../consumers/devices'
import { consumerWithId } from '../consumers/read'
import { devices, type PendingToken, type PreviousToken } from '../consumers/schema'
import { type Db, raw, run } from '../db/client'
import { type FeaturesAsked, factsOfId } from '../entitlements/read'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { inGrace, stillPending } from '../lib/rotation'
import { LAST_SEEN_EVERY } from './limits'

/** Why a token is not valid, in the order in which they are looked at. */
export const INVALID_REASONS = ['unknown', 'revoked', 'expired', 'consumer_blocked', 'missing_scope'] as const
export type InvalidReason = (typeof INVALID_REASONS)[number]

/** A device with the hashes of its tokens. */
export type DeviceTokens = ReturnType<typeof byToken>['devices']['_']['result'][number]

type Tokens = Pick<DeviceTokens, 'token_hash' | 'pending_hash' | 'pending' | 'previous_hash' | 'previous'>

/** Why the token of a device that was found is not valid, whatever it is needed for; null if it is. */
export function reasonOf(
  device: Pick<Device, 'state' | 'expires_at'>,
  consumer: { state: string },
  now: number,
): InvalidReason | null {
  if (device.state === 'revoked') return 'revoked'
  if (device.expires_at !== null && device.expires_at <= now) return 'expired'
  return consumer.state === 'blocked' ? 'consumer_blocked' : null
}

/** The token of a device that waits for its first use; null if there is none, or if it has ended. */
export function pendingToken({ state, pending }: Pick<Device, 'state' | 'pending'>, now: number): PendingToken | null {
  return state === 'active' ? stillPending(pending, now) : null
}

/** The token before the current one; null if it is no longer valid. */
export function previousToken(
  { state, previous }: Pick<Device, 'state' | 'previous'>,
  now: number,
): PreviousToken | null {
  return state === 'active' ? inGrace(previous, now) : null
}

/**
 * What the token with this hash is to its device; null if it is nothing any more. The tokens of a revoked device stay what they
 * were, so that whoever holds one learns that the device was revoked.
 */
export function tokenRole(device: Tokens, hash: string, now: number): 'current' | 'pending' | 'previous' | null {
  const { pending, previous } = device
  if (device.token_hash === hash) return 'current'
  if (device.pending_hash === hash) return stillPending(pending, now) && 'pending'
  return device.previous_hash === hash && inGrace(previous, now) ? 'previous' : null
}

/**
 * Records after the response that a device was seen, at most once an hour, and that its previous token was used. A failure here
 * never fails the request.
 */
export function recordSeen(rt: Runtime, projectId: string, device: DeviceTokens, role: 'current' | 'previous'): void {
  const before = rt.now - LAST_SEEN_EVERY
  const used = role === 'previous' ? (device.previous?.last_used_at ?? 0) : device.last_seen_at
  if (device.last_seen_at > before && used > before) return
  rt.waitUntil(
    touchDevice(rt.db, projectId, { ...device, role }, rt.now).catch((error) =>
      writeLog('warn', 'last_seen_at_not_recorded', { device_id: device.id, error: String(error) }),
    ),
  )
}

const d = alias(devices, 'd')
const o = alias(devices, 'o')

/**
 * A token by its hash. `any`: not only a current one, but also one that waits, and one that was replaced. That takes one more
 * read of each index, so it is asked only after the current ones were.
 */
export type TokenAsked = { hash: string; any: boolean }

/** Reads the device of the project that has this token, and its consumer. */
export function byToken(db: Db, projectId: string, token: TokenAsked) {
  return {
    devices: raw(db, deviceWithHashes, (fields) => sql`SELECT ${fields} ${withToken(projectId, token)}`),
    consumers: consumerWithId(db, projectId, ownerOf(projectId, token)),
  }
}

/** Reads, in addition, what decides what the consumer may do with these features. */
export function factsByToken(db: Db, projectId: string, token: TokenAsked, asked: FeaturesAsked) {
  return factsOfId(db, projectId, ownerOf(projectId, token), asked)
}

function withToken(projectId: string, { hash, any }: TokenAsked): SQL {
  const isIt = any ? sql`IN (${allWith(projectId, hash)})` : sql`= ${hash}`
  return sql`FROM ${devices} ${d} WHERE ${d.project_id} = ${projectId} AND ${d.token_hash} ${isIt}`
}

/** The current hash of the device that has this token: it may have become the current one since that was asked. */
function allWith(projectId: string, hash: string): SQL {
  return sql`SELECT ${hash} UNION ALL
    SELECT ${o.token_hash} FROM ${devices} ${o} INDEXED BY devices_pending
    WHERE ${o.project_id} = ${projectId} AND ${o.pending_hash} = ${hash} UNION ALL
    SELECT ${o.token_hash} FROM ${devices} ${o} INDEXED BY devices_previous
    WHERE ${o.project_id} = ${projectId} AND ${o.previous_hash} = ${hash}`
}

/** The id of the consumer whose device has this token, as an expression. */
function ownerOf(projectId: string, token: TokenAsked): SQL {
  return sql`(SELECT ${d.consumer_id} ${withToken(projectId, token)})`
}

/** Records that a device was seen, unless that was recorded within the hour. */
async function touchDevice(
  db: Db,
  projectId: string,
  { token_hash, previous_hash, role }: Pick<DeviceTokens, 'token_hash' | 'previous_hash'> & { role: string },
  now: number,
): Promise<void> {
  const before = now - LAST_SEEN_EVERY
  const isPrevious = role === 'previous'
  const unused = lte(sql`coalesce(${devices.previous} ->> '$.last_used_at', 0)`, before)
  const stale = or(lte(devices.last_seen_at, before), isPrevious ? unused : undefined)
  const same = isPrevious ? eq(devices.previous_hash, previous_hash ?? '') : undefined
  const isIt = and(eq(devices.project_id, projectId), eq(devices.token_hash, token_hash), eq(devices.state, 'active'))
  const previous = sql`json_set(${devices.previous}, '$.last_used_at', CAST(${now} AS INTEGER))`
  const set = { last_seen_at: now, ...(isPrevious && { previous }) }
  await run(
    db,
    db
      .update(devices)
      .set(set)
      .where(and(isIt, same, stale)),
  )
}
