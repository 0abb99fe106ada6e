import { and, eq, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { type Device, devicesWithHash, shownOfDevice } from '../consumers/devices'
import { changeable, consumerIdOf, findConsumer } from '../consumers/read'
import type { ConsumerRef } from '../consumers/ref'
import { consumers, devices } from '../consumers/schema'
import { batch, type Db, raw } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { activeOf, type Cap, capOf, featureOf, limitOf, maxDevices } from './device-limit'
import { consumerBlocked } from './faults'
import { LAST_SEEN_EVERY } from './limits'
import { madeRoom } from './replace-oldest'
import { type DeviceFields, detailsOfChange, differing } from './sent'
import type { NewToken } from './token'

const c = alias(consumers, 'c')
const d = alias(devices, 'd')

/** The platform of keys: see docs. Who registers or changes one is in the audit log. */
const KEY = 'server'

type RegisteredFields = DeviceFields & { platform: NonNullable<DeviceFields['platform']> }
type Installation = { project_id: string; ref: ConsumerRef; installation_id: string }
type Registered = { device: Device; token: string | null; created: boolean }
type How = { fields: RegisteredFields; replace: boolean; renew: boolean; token: NewToken }

/**
 * Registers the installation as a device of the consumer, or changes the device that it is. The insert itself counts the
 * active devices, so calls at the same time cannot exceed the limit. The same fields again write nothing for an hour.
 *
 * Where a feature says how many devices there can be, a new device takes two more round trips: what the consumer is entitled
 * to is read, and then the insert counts up to that.
 *
 * @param how.replace whether the devices that were seen least recently are revoked if there is no room
 * @param how.renew whether a device that is there gets the new token; the one before ends
 * @returns the device; its token only if it is new
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `consumer_blocked`, `device_revoked`, `device_limit_reached`
 */
export async function registerDevice(db: Db, of: Installation, how: How, change: Change): Promise<Registered> {
  const tried = await tryToRegister(db, of, { ...how, cap: null }, change)
  if ('device' in tried) return tried
  const { feature, limit } = tried
  if (feature === null) throw full(tried)
  const cap = await capOf(db, of.project_id, of.ref, { feature, limit })
  const decided = await tryToRegister(db, of, { ...how, cap: cap.limit }, change)
  if ('device' in decided) return decided
  throw full(cap)
}

/**
 * As {@link registerDevice}, in one transaction.
 *
 * @param how.cap how many active devices the consumer can have; null: as `max_devices` says
 * @returns the device; or, if the limit is reached, `limit` (the project's `max_devices`) and the `feature` that sets it instead, if any
 */
async function tryToRegister(
  db: Db,
  of: Installation,
  { fields, replace, renew, token, cap }: How & { cap: number | null },
  change: Change,
): Promise<Registered | Cap> {
  const { project_id, ref, installation_id } = of
  const id = newId('dev', change.now)
  const found = await batch(
    db,
    {
      // Where there can be none, revoking others makes no room.
      ...(cap !== 0 && madeRoom(db, { ...of, owner: activeOwner(of), id, cap, replace }, change)),
      inserted: inserted(db, of, { id, fields, token, cap, now: change.now }),
      ...(fields.platform === KEY && { told_new: newTold(db, of, { id, fields, token }, change) }),
      told: changeTold(db, of, { fields, token: renew ? token : null }, change),
      updated: updated(db, of, { fields, token: renew ? token : null }, change.now),
      consumer: findConsumer(db, project_id, ref),
      device: raw(
        db,
        { ...shownOfDevice, token_hash: d.token_hash },
        (list) => sql`SELECT ${list} FROM ${devices} ${d} INDEXED BY devices_installation
          WHERE ${d.project_id} = ${project_id} AND ${d.consumer_id} = ${consumerIdOf(project_id, ref)}
            AND ${d.installation_id} = ${installation_id}`,
      ),
      settings: raw(
        db,
        { feature: featureOf(project_id), limit: maxDevices(project_id) },
        (list) => sql`SELECT ${list}`,
      ),
    },
    { idempotent: true },
  )
  const consumer = changeable(found.consumer)
  if (consumer.state === 'blocked') throw consumerBlocked(consumer.id)
  const [row] = found.device
  if (!row) {
    const { feature = null, limit = 0 } = found.settings[0] ?? {}
    return { feature, limit }
  }
  const { token_hash, ...device } = row
  if (device.state === 'revoked') {
    throw new Fault('device_revoked', `This installation is the device ${device.id}, which was revoked for good.`)
  }
  return { device, token: token_hash === token.hash ? token.token : null, created: device.id === id }
}

/** The id of the consumer if it is active, as an expression; NULL for any other. */
function activeOwner({ project_id, ref }: Installation): SQL {
  return sql`(SELECT ${c.id} FROM ${consumers} ${c}
    WHERE ${c.project_id} = ${project_id} AND ${c.id} = ${consumerIdOf(project_id, ref)} AND ${c.state} = 'active')`
}

type New = { id: string; fields: RegisteredFields; token: NewToken; cap: number | null; now: number }

function inserted(db: Db, { project_id, ref, installation_id }: Installation, { id, fields, token, cap, now }: New) {
  const isActive = and(eq(c.project_id, project_id), eq(c.id, consumerIdOf(project_id, ref)), eq(c.state, 'active'))
  const { platform, name, model, os_version, app_version, scopes, metadata, expires_at } = fields
  const row = {
    ...{ project_id, token_hash: token.hash, token_prefix: token.token_prefix, id, installation_id, platform },
    ...{ name, model, os_version, app_version, scopes, metadata, expires_at },
    ...{ state: 'active' as const, last_seen_at: now, created_at: now },
  }
  const values = Object.entries(row).map(([name, value]) => [
    name,
    sql`${sql.param(value ?? null, devices[name as keyof typeof row])}`,
  ])
  return insertFrom(
    db,
    devices,
    { ...Object.fromEntries(values), consumer_id: c.id },
    sql`FROM ${consumers} ${c} WHERE ${isActive} AND ${activeOf(project_id, sql`${c.id}`)} < ${limitOf(project_id, cap)} ON CONFLICT DO NOTHING`,
  )
}

/** The entry about a new key, after the statement that inserts it. */
function newTold(
  db: Db,
  { project_id, ref }: Installation,
  { id, fields: { scopes }, token: { token_prefix } }: Pick<New, 'id' | 'fields' | 'token'>,
  change: Change,
) {
  const said = JSON.stringify({ token_prefix, scopes: scopes ?? [] })
  const details = sql`json_patch(json_object('consumer', ${consumerIdOf(project_id, ref)}), ${said})`
  return auditedFrom(
    db,
    change,
    { action: 'device.registered', object_type: 'device', object_id: id },
    { taken: { project_id: sql`${project_id}`, details }, from: sql`WHERE changes() > 0` },
  )
}

type Changed = { fields: RegisteredFields; token: NewToken | null }

/** The entry about a key that is there and that {@link updated} will change. What apps say of other devices is routine. */
function changeTold(db: Db, of: Installation, { fields, token }: Changed, change: Change) {
  const renewed = token === null ? undefined : sql`${d.token_hash} IS NOT ${token.hash}`
  const isTold = and(sql`${KEY} IN (${d.platform}, ${fields.platform})`, or(differing(fields, d).any, renewed))
  const details = detailsOfChange(fields, token === null ? {} : { token_prefix: token.token_prefix })
  return auditedFrom(
    db,
    change,
    { action: token === null ? 'device.updated' : 'device.rotated', object_type: 'device', object_id: '' },
    { taken: { project_id: d.project_id, object_id: d.id, details }, from: sql`${active(of)} AND ${isTold}` },
  )
}

/** Changes what differs of a device that is there. A new token ends all others. Without one, no index is written. */
function updated(db: Db, of: Installation, { fields, token }: Changed, now: number) {
  const isNew = or(
    differing(fields, devices).any,
    token === null ? undefined : ne(devices.token_hash, token.hash),
    lte(devices.last_seen_at, now - LAST_SEEN_EVERY),
  )
  const others = { pending_hash: null, pending: null, previous_hash: null, previous: null }
  const renewed = token && { token_hash: token.hash, token_prefix: token.token_prefix, ...others }
  return db
    .update(devices)
    .set({ ...fields, ...renewed, last_seen_at: now })
    .where(and(devicesWithHash(of.project_id, sql`(SELECT ${d.token_hash} ${active(of)})`), isNew))
}

/** The device `d` that is there, if it and its consumer are active: FROM and WHERE. */
function active(of: Installation): SQL {
  return sql`FROM ${devices} ${d} INDEXED BY devices_installation
    WHERE ${d.project_id} = ${of.project_id} AND ${d.consumer_id} = ${activeOwner(of)}
      AND ${d.installation_id} = ${of.installation_id} AND ${d.state} = 'active'`
}

function full({ feature, limit }: Cap): Fault {
  const by = feature === null ? 'the setting `max_devices` of the project' : `the consumer's feature \`${feature}\``
  const detail = `The consumer has reached its limit of active devices: ${by} allows ${limit === 0 ? 'none' : limit}.`
  return new Fault('device_limit_reached', detail)
}
