import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { ConsumerRef } from '../consumers/ref'
import { idOf } from '../consumers/store'
import { type Db, raw } from '../db/client'
import { projects } from '../projects/schema'
import { settingsOf } from '../projects/settings'
import { DEVICE_STATES, type DeviceState, devices } from './schema'

const d = alias(devices, 'd')
const p = alias(projects, 'p')

/** What is shown of a device: all but its token's hash. */
export const shown = {
  id: d.id,
  installation_id: d.installation_id,
  platform: d.platform,
  name: d.name,
  model: d.model,
  os_version: d.os_version,
  app_version: d.app_version,
  state: d.state,
  last_seen_at: d.last_seen_at,
  created_at: d.created_at,
  revoked_at: d.revoked_at,
}

/** A device as it is listed. */
export type Device = ReturnType<typeof listDevices>['_']['result'][number]

/** How many active devices the setting `max_devices` allows each consumer, as an expression. */
export function maxDevices(projectId: string): SQL<number> {
  return sql`coalesce(${settingIn(projectId, 'max_devices')}, ${settingsOf(null).max_devices})`
}

/** The feature that says how many active devices a consumer can have, as an expression. NULL: `max_devices` says so. */
export function featureOf(projectId: string): SQL<string | null> {
  return sql`${settingIn(projectId, 'devices_feature')}`
}

function settingIn(projectId: string, name: 'max_devices' | 'devices_feature'): SQL {
  return sql`(SELECT ${p.settings} ->> ${name} FROM ${projects} ${p} WHERE ${p.id} = ${projectId})`
}

/**
 * How many active devices a consumer can have, as an expression.
 *
 * @param cap what the feature allows. Null if it is not known: where a feature decides, the expression is then NULL, which no
 *   number is less than.
 */
export function limitOf(projectId: string, cap: number | null): SQL<number> {
  if (cap !== null) return sql`${cap}`
  return sql`(CASE WHEN ${featureOf(projectId)} IS NULL THEN ${maxDevices(projectId)} END)`
}

/** How many active devices a consumer has, as an expression. */
export function activeOf(projectId: string, consumerId: SQL): SQL<number> {
  return sql`(SELECT count(*) FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${d.project_id} = ${projectId} AND ${d.consumer_id} = ${consumerId} AND ${d.state} = 'active')`
}

/**
 * Reads how many active devices a consumer has, and how many `max_devices` allows. `feature`: if it is not null, it says how
 * many the consumer can have. There always is a row.
 */
export function countDevices(db: Db, projectId: string, ref: ConsumerRef) {
  const counted = {
    active: activeOf(projectId, idOf(projectId, ref)),
    limit: maxDevices(projectId),
    feature: featureOf(projectId),
  }
  return raw(db, counted, (fields) => sql`SELECT ${fields}`)
}

/** Reads a device of a consumer. */
export function findDevice(db: Db, projectId: string, ref: ConsumerRef, id: string) {
  const isOne = and(eq(d.project_id, projectId), sql`${d.consumer_id} = ${idOf(projectId, ref)}`, eq(d.id, id))
  const inState = DEVICE_STATES.map(
    (state) => sql`SELECT * FROM ${devices} ${d} INDEXED BY devices_consumer WHERE ${isOne} AND ${d.state} = ${state}`,
  )
  return raw(db, shown, (fields) => sql`SELECT ${fields} FROM (${sql.join(inState, sql` UNION ALL `)}) ${d}`)
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
    WHERE ${and(eq(d.project_id, projectId), sql`${d.consumer_id} = ${idOf(projectId, ref)}`, eq(d.state, one), start)}
    ORDER BY ${desc(d.id)} LIMIT ${take})`
  const parts = (state === undefined ? DEVICE_STATES : [state]).map(part)
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${sql.join(parts, sql` UNION ALL `)}) ${d}
      ORDER BY ${desc(d.id)} LIMIT ${take}`,
  )
}
