import { and, desc, eq, getTableColumns, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../db/client'
import { MAX_REVOKED } from './limits'
import { consumerIdOf } from './read'
import type { ConsumerRef } from './ref'
import { DEVICE_STATES, type DeviceState, devices } from './schema'

const d = alias(devices, 'd')
const other = alias(devices, 'o')

/**
 * The devices with these hashes, for an update or a deletion. SQLite may not find its rows by another index than the primary
 * key, and then it would read all devices of the project.
 *
 * @param hashes a subquery
 */
export function devicesWithHash(projectId: string, hashes: SQL) {
  return and(eq(devices.project_id, projectId), sql`${devices.token_hash} IN ${hashes}`)
}

/** The devices of a consumer, for an update or a deletion. */
function ofConsumer(projectId: string, consumerId: string | SQL, which = sql`1`) {
  const hashes = sql`(SELECT ${d.token_hash} FROM ${devices} ${d} INDEXED BY devices_installation
    WHERE ${d.project_id} = ${projectId} AND ${d.consumer_id} = ${consumerId} AND ${which})`
  return devicesWithHash(projectId, hashes)
}

/**
 * Moves the devices of a consumer to another one, for the batch of a merge. Of two with one installation id, the one that
 * was seen later stays, and the other is deleted. The limit of the project may be exceeded then.
 */
export function movedDevices(db: Db, projectId: string, from: string, to: string) {
  const hasTwin = (consumerId: string, seen = sql`1`) => sql`EXISTS (
    SELECT 1 FROM ${devices} ${other} INDEXED BY devices_installation
    WHERE ${other.project_id} = ${projectId} AND ${other.consumer_id} = ${consumerId}
      AND ${other.installation_id} = ${d.installation_id} AND ${seen})`
  const seenNoEarlier = sql`${other.last_seen_at} >= ${d.last_seen_at}`
  return {
    twins_of_survivor: db.delete(devices).where(ofConsumer(projectId, from, hasTwin(to, seenNoEarlier))),
    twins_of_moving: db.delete(devices).where(ofConsumer(projectId, to, hasTwin(from))),
    moved_devices: db.update(devices).set({ consumer_id: to }).where(ofConsumer(projectId, from)),
    forgotten_devices: revokedForgotten(db, projectId, to),
  }
}

/** Deletes the devices of a consumer, whatever their state, for the batch of an erasure. Their tokens are then unknown. */
export function deleteDevices(db: Db, projectId: string, consumerId: string | SQL) {
  return db.delete(devices).where(ofConsumer(projectId, consumerId))
}

/**
 * Deletes the revoked devices of a consumer beyond {@link MAX_REVOKED}, so that their number is limited. It comes after the
 * statement that adds to them, and reads none if that has changed nothing.
 */
export function revokedForgotten(db: Db, projectId: string, consumerId: string | SQL) {
  const beyond = sql`(SELECT ${d.token_hash} FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${d.project_id} = ${projectId} AND ${d.consumer_id} = ${consumerId} AND ${d.state} = 'revoked'
    ORDER BY ${d.id} DESC LIMIT CASE WHEN changes() > 0 THEN -1 ELSE 0 END OFFSET ${MAX_REVOKED})`
  return db.delete(devices).where(devicesWithHash(projectId, beyond))
}

const { project_id: _, consumer_id, token_hash, pending_hash, previous_hash, ...shown } = getTableColumns(d)

/** What is shown of a device: all but the hashes of its tokens. */
export const shownOfDevice = shown

/** A device with its consumer and the hashes of its tokens. */
export const deviceWithHashes = { ...shown, consumer_id, token_hash, pending_hash, previous_hash }

/** A device as it is listed. */
export type Device = ReturnType<typeof listDevices>['_']['result'][number]

/** Reads a device of a consumer. */
export function findDevice(db: Db, projectId: string, ref: ConsumerRef, id: string) {
  return raw(db, shownOfDevice, (fields) => sql`SELECT ${fields} FROM (${deviceById(projectId, ref, id)}) ${d}`)
}

/** As {@link findDevice}, with the hashes of its tokens. */
export function findDeviceTokens(db: Db, projectId: string, ref: ConsumerRef, id: string) {
  return raw(db, deviceWithHashes, (fields) => sql`SELECT ${fields} FROM (${deviceById(projectId, ref, id)}) ${d}`)
}

function deviceById(projectId: string, ref: ConsumerRef, id: string): SQL {
  const isOne = and(eq(d.project_id, projectId), sql`${d.consumer_id} = ${consumerIdOf(projectId, ref)}`, eq(d.id, id))
  const inState = DEVICE_STATES.map(
    (state) => sql`SELECT * FROM ${devices} ${d} INDEXED BY devices_consumer WHERE ${isOne} AND ${d.state} = ${state}`,
  )
  return sql.join(inState, sql` UNION ALL `)
}

/** Reads the devices of a consumer, newest first, starting after the device `before`. */
export function listDevices(
  db: Db,
  projectId: string,
  ref: ConsumerRef,
  { state, before, take }: { state?: DeviceState | undefined; before: string | null; take: number },
) {
  const start = before === null ? undefined : lt(d.id, before)
  // The index has the devices of each state in their order.
  const part = (one: DeviceState) => sql`SELECT * FROM (
    SELECT * FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${and(eq(d.project_id, projectId), sql`${d.consumer_id} = ${consumerIdOf(projectId, ref)}`, eq(d.state, one), start)}
    ORDER BY ${desc(d.id)} LIMIT ${take})`
  const parts = (state === undefined ? DEVICE_STATES : [state]).map(part)
  return raw(
    db,
    shownOfDevice,
    (fields) => sql`SELECT ${fields} FROM (${sql.join(parts, sql` UNION ALL `)}) ${d}
      ORDER BY ${desc(d.id)} LIMIT ${take}`,
  )
}
