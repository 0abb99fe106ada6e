import { and, eq, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedEach, type Change } from '../audit/store'
import {
  activeOf,
  type Device,
  devicesWithHash,
  featureOf,
  limitOf,
  maxDevices,
  revokedForgotten,
  shownOfDevice,
} from '../consumers/devices'
import { changeable, consumerIdOf, findConsumer } from '../consumers/read'
import type { ConsumerRef } from '../consumers/ref'
import { consumers, devices } from '../consumers/schema'
import { batch, type Db, raw } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { capOf } from './cap'
import { LAST_SEEN_EVERY, MAX_REPLACED } from './limits'
import type { NewToken } from './token'

const c = alias(consumers, 'c')
const d = alias(devices, 'd')
const i = alias(devices, 'i')

type Row = typeof devices.$inferSelect
/** What an app says about its device; undefined stays as it is, null is cleared. */
export type DeviceFields = Pick<Row, 'platform'> & {
  [Name in 'name' | 'model' | 'os_version' | 'app_version']?: Row[Name] | undefined
}
type Installation = { project_id: string; ref: ConsumerRef; installation_id: string }
type How = { fields: DeviceFields; replace: boolean; renew: boolean; token: NewToken }

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
  const cap = await capOf(db, of.project_id, of.ref, tried)
  const decided = await tryToRegister(db, of, { ...how, cap }, change)
  if ('device' in decided) return decided
  throw full()
}

type Registered = { device: Device; token: string | null; created: boolean }

/**
 * As {@link registerDevice}, in one transaction.
 *
 * @param how.cap how many active devices the consumer can have; null: as `max_devices` says
 * @returns `feature`: the device is new, and this feature says how many there can be; `limit`: what `max_devices` says
 */
async function tryToRegister(
  db: Db,
  of: Installation,
  { fields, replace, renew, token, cap }: How & { cap: number | null },
  change: Change,
): Promise<Registered | { feature: string; limit: number }> {
  const { project_id, ref, installation_id } = of
  const id = newId('dev', change.now)
  const found = await batch(
    db,
    {
      // Where there can be none, revoking others makes no room.
      ...(replace && cap !== 0 && replaced(db, of, { id, cap }, change)),
      inserted: inserted(db, of, { id, fields, hash: token.hash, cap, now: change.now }),
      updated: updated(db, of, fields, { hash: renew ? token.hash : undefined, now: change.now }),
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
  if (consumer.state === 'blocked') {
    throw new Fault('consumer_blocked', `The consumer ${consumer.id} is blocked. Unblock it first.`)
  }
  const [row] = found.device
  if (!row) {
    const { feature = null, limit = 0 } = found.settings[0] ?? {}
    if (cap === null && feature !== null) return { feature, limit }
    throw full()
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

/** Revokes as many devices as a new one needs to fit in, the least recently seen ones first, and audits each. */
function replaced(db: Db, of: Installation, { id, cap }: Pick<New, 'id' | 'cap'>, change: Change) {
  const { project_id, installation_id } = of
  const owner = activeOwner(of)
  const isThere = sql`EXISTS (SELECT 1 FROM ${devices} ${i} INDEXED BY devices_installation
    WHERE ${i.project_id} = ${project_id} AND ${i.consumer_id} = ${owner} AND ${i.installation_id} = ${installation_id})`
  const tooMany = sql`(SELECT CASE WHEN n BETWEEN 1 AND ${MAX_REPLACED} THEN n ELSE 0 END
    FROM (SELECT ${activeOf(project_id, owner)} - ${limitOf(project_id, cap)} + 1 AS n))`
  const oldest = (field: SQL) => sql`(SELECT ${field} FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${d.project_id} = ${project_id} AND ${d.consumer_id} = ${owner} AND ${d.state} = 'active' AND NOT ${isThere}
    ORDER BY ${d.last_seen_at}, ${d.id} LIMIT ${tooMany})`
  const entry = { project_id, action: 'device.revoked', object_type: 'device', details: { replaced_by: id } }
  return {
    audit: auditedEach(db, change, entry, { objects: oldest(sql`${d.id}`), most: MAX_REPLACED }),
    revoked: db
      .update(devices)
      .set({ state: 'revoked', revoked_at: change.now })
      .where(devicesWithHash(project_id, oldest(sql`${d.token_hash}`))),
    forgotten: revokedForgotten(db, project_id, owner),
  }
}

type New = { id: string; fields: DeviceFields; hash: string; cap: number | null; now: number }

function inserted(db: Db, { project_id, ref, installation_id }: Installation, { id, fields, hash, cap, now }: New) {
  const { platform, name = null, model = null, os_version = null, app_version = null } = fields
  const isActive = and(eq(c.project_id, project_id), eq(c.id, consumerIdOf(project_id, ref)), eq(c.state, 'active'))
  return insertFrom(
    db,
    devices,
    {
      project_id: c.project_id,
      token_hash: sql`${hash}`,
      id: sql`${id}`,
      consumer_id: c.id,
      installation_id: sql`${installation_id}`,
      platform: sql`${platform}`,
      name: sql`${name}`,
      model: sql`${model}`,
      os_version: sql`${os_version}`,
      app_version: sql`${app_version}`,
      state: sql`'active'`,
      last_seen_at: sql`${now}`,
      created_at: sql`${now}`,
    },
    sql`FROM ${consumers} ${c}
      WHERE ${isActive} AND ${activeOf(project_id, sql`${c.id}`)} < ${limitOf(project_id, cap)} ON CONFLICT DO NOTHING`,
  )
}

/** Changes what differs of a device that is there. Without a new token, no index is written. */
function updated(
  db: Db,
  of: Installation,
  { platform, name, model, os_version, app_version }: DeviceFields,
  { hash, now }: { hash: string | undefined; now: number },
) {
  const differs = (column: SQL, value: string | null | undefined) =>
    value === undefined ? undefined : sql`${column} IS NOT ${value}`
  const isNew = or(
    ne(devices.platform, platform),
    differs(sql`${devices.name}`, name),
    differs(sql`${devices.model}`, model),
    differs(sql`${devices.os_version}`, os_version),
    differs(sql`${devices.app_version}`, app_version),
    differs(sql`${devices.token_hash}`, hash),
    lte(devices.last_seen_at, now - LAST_SEEN_EVERY),
  )
  const one = sql`(SELECT ${d.token_hash} FROM ${devices} ${d} INDEXED BY devices_installation
    WHERE ${d.project_id} = ${of.project_id} AND ${d.consumer_id} = ${activeOwner(of)}
      AND ${d.installation_id} = ${of.installation_id} AND ${d.state} = 'active')`
  return db
    .update(devices)
    .set({ platform, name, model, os_version, app_version, token_hash: hash, last_seen_at: now })
    .where(and(devicesWithHash(of.project_id, one), isNew))
}

function full(): Fault {
  return new Fault(
    'device_limit_reached',
    'The consumer has as many active devices as the project allows. Revoke one, or send `when_full` as `replace_oldest`.',
  )
}
