import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { devices } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { valuesOf } from '../db/sql'
import { notices } from '../notices/schema'
import { projects } from '../tenancy/schema'

/* Devices of which the token was found where it should not be. */

const d = alias(devices, 'd')

/** Reads the devices whose current tokens have these hashes, in all projects of the store. */
export function findExposedDevices(db: Db, hashes: readonly string[]) {
  const fields = {
    id: d.id,
    project_id: d.project_id,
    consumer_id: d.consumer_id,
    hash: d.token_hash,
    state: d.state,
    settings: projects.settings,
  }
  const isLive = and(eq(projects.id, d.project_id), isNull(projects.purging_since))
  return raw(
    db,
    fields,
    (list) => sql`SELECT ${list} FROM ${devices} ${d} INDEXED BY devices_token
      CROSS JOIN ${projects} ON ${isLive} WHERE ${d.token_hash} IN ${valuesOf(hashes)}`,
  )
}
export type ExposedDevice = ReturnType<typeof findExposedDevices>['_']['result'][number]

/** Whether a device is active and has a token with this hash, as an expression. */
export function hasToken(projectId: SQL, hash: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM ${devices} ${d} WHERE ${d.project_id} = ${projectId} AND ${d.token_hash} = ${hash}
    AND ${d.state} = 'active')`
}

/** Whether the device of a notice about an exposed token is no longer active. */
export const isTokenNoMore = sql`NOT EXISTS (SELECT 1 FROM ${devices} ${d} INDEXED BY devices_consumer
  WHERE ${d.project_id} = ${notices.project_id} AND ${d.consumer_id} = ${notices.facts} ->> '$.consumer'
    AND ${d.state} = 'active' AND ${d.id} = ${notices.object_id})`

/** Revokes devices. @param tokens a subquery of their projects and the hashes of their tokens */
export function exposedDevicesRevoked(db: Db, tokens: SQL, now: number) {
  return db
    .update(devices)
    .set({ state: 'revoked', revoked_at: now })
    .where(and(sql`(${devices.project_id}, ${devices.token_hash}) IN ${tokens}`, eq(devices.state, 'active')))
}
