import { and, eq, exists, lte, not, sql } from 'drizzle-orm'
import type { CustomerKey } from '../../billing/customers/read'
import { isErased } from '../../consumers/links'
import { type Db, type Query, raw, run } from '../../db/client'
import { CHUNK_ROWS } from '../../db/limits'
import { bare } from '../../db/sql'
import type { PassStep } from '../../tenancy/pass'
import { findSourceKeys } from './keys'
import { ASKS_KEPT_MS, FLIGHT_LEASE_MS } from './limits'
import { vendorAsks } from './schema'
import type { RefreshState } from './state'

/*
 * One flight for each customer: if several refreshes come at once, one asks the vendor, and the others wait for it. Otherwise twenty open
 * pages of one customer would use sixty calls of the vendor's limit, and their answers could overtake each other.
 */

export type AskKey = CustomerKey & { project_id: string }

function isOf({ project_id, vendor, id }: AskKey) {
  const { kind, object_id } = vendorAsks
  return and(
    eq(vendorAsks.project_id, project_id),
    eq(vendorAsks.vendor, vendor),
    eq(kind, 'customer'),
    eq(object_id, id),
  )
}

/**
 * Takes the flight of a customer: a row if it was taken. It is not if another worker has it, one has just ended, no connection of the
 * vendor has a key, or the customer was erased.
 *
 * @param how `freshFor`: how long (ms) the last answer is good enough
 */
export function takeFlight(
  db: Db,
  { project_id, vendor, id }: AskKey,
  { token, freshFor }: { token: string; freshFor: number },
  now: number,
) {
  const { kind, object_id, lease_token, lease_until, done_at, used_at } = vendorAsks
  const keys = findSourceKeys(db, project_id, vendor)
  const isGone = isErased(sql`${project_id}`, { vendor: sql`${vendor}`, customer: sql`${id}` })
  return raw(
    db,
    { lease_token },
    (
      fields,
    ) => sql`INSERT INTO ${vendorAsks} (${bare(vendorAsks.project_id, vendorAsks.vendor, kind, object_id, lease_token, lease_until, used_at)})
      SELECT ${project_id}, ${vendor}, 'customer', ${id}, ${token}, ${now + FLIGHT_LEASE_MS}, ${now} WHERE ${and(exists(keys), not(isGone))}
      ON CONFLICT DO UPDATE SET ${bare(lease_token)} = ${token}, ${bare(lease_until)} = ${now + FLIGHT_LEASE_MS}, ${bare(used_at)} = ${now}
        WHERE ${lease_until} <= ${now} AND coalesce(${done_at}, 0) <= ${now - freshFor}
      RETURNING ${fields}`,
  )
}

/**
 * Ends the flight. Nothing is kept about a customer that the vendor does not know.
 *
 * @param ended `state`: unless it is `stale`, an answer of the vendor's was applied
 */
export function endFlight(db: Db, key: AskKey, token: string, ended: { state: RefreshState; unknown: boolean }): Query {
  const held = and(isOf(key), eq(vendorAsks.lease_token, token))
  if (ended.unknown) return db.delete(vendorAsks).where(held)
  const done = ended.state !== 'stale' && { done_at: Date.now(), ended: ended.state }
  return db
    .update(vendorAsks)
    .set({ lease_token: null, lease_until: 0, ...done })
    .where(held)
}

/** Reads who asks for a customer, and when the last answer was applied. */
export function findFlight(db: Db, key: AskKey) {
  return db
    .select({ lease_until: vendorAsks.lease_until, done_at: vendorAsks.done_at, ended: vendorAsks.ended })
    .from(vendorAsks)
    .where(isOf(key))
}

/**
 * Deletes rows that were last used long ago, of all projects at once: there are no more than a day's.
 *
 * @returns `after` is null once none is left
 */
export async function purgeAsks(db: Db, now: number): Promise<PassStep> {
  const key = sql`${vendorAsks.project_id}, ${vendorAsks.vendor}, ${vendorAsks.kind}, ${vendorAsks.object_id}`
  const chunk = sql`SELECT ${key} FROM ${vendorAsks} WHERE ${lte(vendorAsks.used_at, now - ASKS_KEPT_MS)} LIMIT ${CHUNK_ROWS}`
  const gone = await run(
    db,
    db.delete(vendorAsks).where(sql`(${key}) IN (${chunk})`).returning({ project_id: vendorAsks.project_id }),
  )
  return { done: gone.length, after: gone.length < CHUNK_ROWS ? null : 'more' }
}
