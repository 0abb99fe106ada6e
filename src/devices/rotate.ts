import { and, eq, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type * as z from 'zod'
import { audited, type Change, entriesOf } from '../audit/store'
import { deviceWithHashes, findDeviceTokens } from '../consumers/devices'
import { changeable, findConsumer } from '../consumers/read'
import type { NamedConsumer } from '../consumers/ref'
import { devices, type PendingToken, type PreviousToken } from '../consumers/schema'
import { batch, type Db, raw } from '../db/client'
import { keptWith } from '../idempotency/claim'
import { Fault } from '../lib/fault'
import { NEW_SECRET_WAITS, rotationSaid } from '../lib/rotation'
import { SECOND } from '../lib/time'
import { consumerBlocked, deviceNotFound, deviceRevoked, tokenConflict } from './faults'
import type { RotateDeviceBody } from './fields'
import type { NewToken } from './token'
import type { DeviceTokens } from './verify'

const d = alias(devices, 'd')
const entryOf = entriesOf('device')

export type TokenRotation = NamedConsumer & {
  id: string
  how: z.infer<typeof RotateDeviceBody>
  /** The tokens that the caller has seen, as {@link tokensSeen} names them; any if it is not given. */
  known?: string | undefined
  /** The `token_prefix` of the token that waits for its first use, which must be replaced by one that waits too. */
  pending?: string
}

/**
 * Gives a device a new token: a compare-and-swap on all that it has, so of several concurrent rotations exactly one succeeds. A
 * token that waits is replaced.
 *
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `consumer_blocked`, `device_revoked`, `device_expired`,
 *   `rotation_conflict`
 */
export async function rotateDevice(db: Db, of: TokenRotation, token: NewToken, change: Change): Promise<DeviceTokens> {
  const { project_id, ref, id } = of
  const found = await batch(db, {
    consumer: findConsumer(db, project_id, ref),
    device: findDeviceTokens(db, project_id, ref, id),
  })
  const consumer = changeable(found.consumer)
  const device = rotatableDevice(found.device[0], change.now)
  if (consumer.state === 'blocked') throw consumerBlocked(consumer.id)
  if (of.known !== undefined && of.known !== tokensSeen(device)) throw tokenConflict()
  if (of.pending !== undefined && of.pending !== device.pending?.token_prefix) throw tokenConflict()
  const { set, action, more, isDone } = swapOf(device, of, token, change)
  const details = { consumer: consumer.id, token_prefix: token.token_prefix, ...more }
  const { rotated } = await batch(
    db,
    {
      ...audited(db, change, entryOf(project_id, id, action, details), swapped(db, project_id, device, set)),
      ...keptWith(db, change, id, token.token_prefix),
      rotated: raw(
        db,
        deviceWithHashes,
        (fields) => sql`SELECT ${fields} FROM ${devices} ${d} WHERE ${d.project_id} = ${project_id} AND ${isDone}`,
      ),
    },
    { idempotent: true }, // the second time, the tokens are no longer those to be swapped
  )
  if (rotated[0]) return rotated[0]
  throw tokenConflict()
}

/** Names the tokens of a device, so that a rotation replaces those that its caller has seen. */
export function tokensSeen({ token_prefix, pending }: Pick<DeviceTokens, 'token_prefix' | 'pending'>): string {
  return `${token_prefix ?? ''} ${pending?.token_prefix ?? ''}`
}

/** The update of a device that still has the tokens that were read. */
export function swapped(db: Db, projectId: string, device: DeviceTokens, set: Partial<typeof devices.$inferInsert>) {
  const { token_hash, pending_hash } = device
  const same = pending_hash === null ? isNull(devices.pending_hash) : eq(devices.pending_hash, pending_hash)
  const isIt = and(eq(devices.project_id, projectId), eq(devices.token_hash, token_hash), eq(devices.state, 'active'))
  return db.update(devices).set(set).where(and(isIt, same))
}

/** The current token as the one before the current one, for so long. `grace_s` 0: null, it ends at once. */
export function replacedToken({ token_prefix }: DeviceTokens, grace_s: number, now: number): PreviousToken | null {
  return grace_s === 0 ? null : { token_prefix, valid_until: now + grace_s * SECOND, last_used_at: null }
}

function rotatableDevice(device: DeviceTokens | undefined, now: number): DeviceTokens {
  if (!device) throw deviceNotFound()
  if (device.state === 'revoked') throw deviceRevoked(device.id)
  if (device.expires_at === null || device.expires_at > now) return device
  throw new Fault('device_expired', `The device ${device.id} has expired. Set a later \`expires_at\` first.`)
}

/** What a rotation writes, the action and details of its entry, and by what it is seen to be done. */
function swapOf(device: DeviceTokens, { how, pending: seen }: TokenRotation, token: NewToken, change: Change) {
  const { hash, token_prefix } = token
  const { now, actor } = change
  if (how.when === 'first_use') {
    const grace_s = seen === undefined ? how.grace_s : (device.pending?.grace_s ?? how.grace_s)
    const times = { created_at: now, expires_at: now + NEW_SECRET_WAITS }
    const pending: PendingToken = { token_prefix, ...times, grace_s, begun_by: actor.id }
    return {
      set: { pending_hash: hash, pending },
      action: 'device.rotation_pending',
      more: { begun_by: actor.id, ...rotationSaid({ when: how.when, grace_s }) },
      isDone: sql`${d.token_hash} = (SELECT token_hash FROM ${devices} INDEXED BY devices_pending
        WHERE ${devices.project_id} = ${d.project_id} AND ${devices.pending_hash} = ${hash})`,
    }
  }
  const previous = replacedToken(device, how.grace_s, now)
  return {
    set: {
      ...{ token_hash: hash, token_prefix, pending_hash: null, pending: null },
      ...{ previous_hash: previous && device.token_hash, previous },
    },
    action: 'device.rotated',
    more: rotationSaid({ grace_s: how.grace_s }),
    isDone: eq(d.token_hash, hash),
  }
}
