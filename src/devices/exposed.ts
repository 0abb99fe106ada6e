import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { devices } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { valuesOf } from '../db/sql'
import { namesSecret } from '../notices/exposed'
import { notices } from '../notices/schema'
import { projects } from '../tenancy/schema'
import { tokenRole } from './verify'

/* Devices of which a token was found where it should not be. */

const d = alias(devices, 'd')
const o = alias(devices, 'o')

/** Reads the devices that have tokens with these hashes, or that wait for one of them, in all projects of the store. */
export function findExposedDevices(db: Db, hashes: readonly string[]) {
  const { project_id, token_hash } = d
  const fields = {
    id: d.id,
    project_id,
    consumer_id: d.consumer_id,
    token_hash,
    token_prefix: d.token_prefix,
    pending_hash: d.pending_hash,
    pending: d.pending,
    previous_hash: d.previous_hash,
    previous: d.previous,
    state: d.state,
    expires_at: d.expires_at,
  }
  const isLive = and(eq(projects.id, project_id), isNull(projects.purging_since))
  const listed = valuesOf(hashes)
  const found = sql`SELECT ${o.project_id} AS p, ${o.token_hash} AS t FROM ${devices} ${o} INDEXED BY devices_token WHERE ${o.token_hash} IN ${listed}
    UNION SELECT ${o.project_id}, ${o.token_hash} FROM ${devices} ${o} INDEXED BY devices_pending WHERE ${o.pending_hash} IN ${listed}
    UNION SELECT ${o.project_id}, ${o.token_hash} FROM ${devices} ${o} INDEXED BY devices_previous WHERE ${o.previous_hash} IN ${listed}`
  return raw(
    db,
    { ...fields, settings: projects.settings },
    (list) => sql`SELECT ${list} FROM (${found}) found
      CROSS JOIN ${devices} ${d} ON ${project_id} = found.p AND ${token_hash} = found.t CROSS JOIN ${projects} ON ${isLive}`,
  )
}
export type ExposedDevice = ReturnType<typeof findExposedDevices>['_']['result'][number]

/** Whether a token with this hash works, now or at its first use. */
export function isLiveToken(device: ExposedDevice, hash: string, now: number): boolean {
  const isOver = device.expires_at !== null && device.expires_at <= now
  return device.state === 'active' && !isOver && tokenRole(device, hash, now) !== null
}

type OfDevice = { project_id: SQL; consumer: SQL; id: SQL; hash: SQL }

/** The device, as `d`, if it is active and has a token with this hash. By its id: its current token may have changed since it was read. */
export function withExposed({ project_id, consumer, id, hash }: OfDevice): SQL {
  return sql`${devices} ${d} INDEXED BY devices_consumer ON ${d.project_id} = ${project_id} AND ${d.consumer_id} = ${consumer}
    AND ${d.state} = 'active' AND ${d.id} = ${id} AND ${hash} IN (${d.token_hash}, ${d.pending_hash}, ${d.previous_hash})`
}

/** What may be shown of the token with this hash. Null: it was made before prefixes were kept. */
export function exposedPrefix(
  { token_prefix, pending_hash, pending, previous_hash, previous }: ExposedDevice,
  hash: string,
) {
  if (hash === pending_hash) return pending?.token_prefix ?? null
  return hash === previous_hash ? (previous?.token_prefix ?? null) : token_prefix
}

/**
 * Whether the device of a notice about exposed tokens has ended, or has other tokens by now. A notice from before the prefix was
 * noted waits for the end of the device.
 */
export function isTokenNoMore(now: number): SQL {
  const { token_prefix, pending, previous } = d
  return sql`NOT EXISTS (SELECT 1 FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${d.project_id} = ${notices.project_id} AND ${d.consumer_id} = ${notices.facts} ->> '$.consumer'
      AND ${d.state} = 'active' AND ${d.id} = ${notices.object_id} AND coalesce(${d.expires_at}, ${now + 1}) > ${now}
      AND (json_type(${notices.facts}, '$.token_prefix') IS NULL OR ${namesSecret(sql`${token_prefix}`)}
        OR (${pending} ->> '$.expires_at' > ${now} AND ${namesSecret(sql`${pending} ->> '$.token_prefix'`)})
        OR (${previous} ->> '$.valid_until' > ${now} AND ${namesSecret(sql`${previous} ->> '$.token_prefix'`)})))`
}

/** Revokes devices. @param from yields them, as {@link withExposed} does */
export function exposedDevicesRevoked(db: Db, from: SQL, now: number) {
  return db
    .update(devices)
    .set({ state: 'revoked', revoked_at: now })
    .where(sql`(${devices.project_id}, ${devices.token_hash}) IN (SELECT ${d.project_id}, ${d.token_hash} ${from})`)
}
