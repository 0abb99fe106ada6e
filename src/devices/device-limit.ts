import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { UNLIMITED } from '../catalog/values'
import { consumerIdOf } from '../consumers/read'
import type { ConsumerRef, NamedConsumer } from '../consumers/ref'
import { devices } from '../consumers/schema'
import { batch, type Db, raw } from '../db/client'
import { factsIn, unlessTooMuch } from '../entitlements/holders'
import { factsOf } from '../entitlements/read'
import { resolve } from '../entitlements/resolve'
import { MAX_DEVICES } from '../tenancy/limits'
import { projects } from '../tenancy/schema'
import { settingsOf } from '../tenancy/settings'

const d = alias(devices, 'd')
const p = alias(projects, 'p')

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

/** How many of those have expired, as an expression. */
export function expiredOf(projectId: string, consumerId: SQL, now: number): SQL<number> {
  return sql`(SELECT count(*) ${expiredDevices(projectId, consumerId, now)})`
}

/** The active devices of a consumer that have expired: FROM and WHERE. */
export function expiredDevices(projectId: string, consumerId: SQL, now: number): SQL {
  return sql`FROM ${devices} ${d} INDEXED BY devices_expiring
    WHERE ${d.project_id} = ${projectId} AND ${d.consumer_id} = ${consumerId} AND ${d.state} = 'active'
      AND ${d.expires_at} IS NOT NULL AND ${d.expires_at} <= ${now}`
}

/**
 * Reads how many active devices a consumer has that have not expired, and how many `max_devices` allows. `feature`: if it is not
 * null, it says how many the consumer can have. There always is a row.
 */
export function countDevices(db: Db, { project_id: projectId, ref }: NamedConsumer, now: number) {
  const owner = consumerIdOf(projectId, ref)
  const counted = {
    active: sql<number>`${activeOf(projectId, owner)} - ${expiredOf(projectId, owner, now)}`,
    limit: maxDevices(projectId),
    feature: featureOf(projectId),
  }
  return raw(db, counted, (fields) => sql`SELECT ${fields}`)
}

/** How many active devices a consumer can have. `feature`: the one that says so; null: `max_devices` does, see `limitOf`. */
export type Cap = { limit: number; feature: string | null }

/**
 * How many active devices a consumer can have where a feature says so: what its plans and grants include of the feature now, at
 * most {@link MAX_DEVICES}. Of a consumer that has too many subscriptions or grants to look at, that is not known: `max_devices`
 * applies instead.
 */
export async function capOf(
  db: Db,
  projectId: string,
  ref: ConsumerRef,
  { feature, limit }: Cap & { feature: string },
): Promise<Cap> {
  const found = await batch(db, factsOf(db, projectId, [ref], { keys: [feature] }))
  const facts = unlessTooMuch(() => factsIn(found, 1))
  if (facts === null) return { limit, feature: null }
  const { now, catalog, holders } = facts
  const [holder = { state: null, subscriptions: [], purchases: [], grants: [] }] = holders
  const { value } = resolve(feature, holder, catalog, now)
  return { limit: value === UNLIMITED ? MAX_DEVICES : Math.min(Number(value), MAX_DEVICES), feature }
}

/** What was read of a consumer's devices, with the limit that counts. It asks the database only where a feature says how many. */
export async function withCap(
  db: Db,
  projectId: string,
  ref: ConsumerRef,
  { active, limit, feature }: Cap & { active: number },
): Promise<{ active: number; limit: number }> {
  if (feature === null) return { active, limit }
  return { active, limit: (await capOf(db, projectId, ref, { feature, limit })).limit }
}
