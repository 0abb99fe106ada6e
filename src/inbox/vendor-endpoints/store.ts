import { and, eq, isNotNull, isNull, lte, not, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import { excluded } from '../../db/sql'
import { isDeleted } from '../../tenancy/project'
import { connections } from '../connections/schema'
import { type ConnectionPlace, ofConnection } from '../of-connection'
import { vendorKeys } from '../vendor-api/schema'
import { CHECK_LEASE, CHECKED_EVERY, MAX_CHECKS_BEGUN } from './limits'
import { type EndpointResult, vendorEndpoints } from './schema'

export type VendorEndpointRow = typeof vendorEndpoints.$inferSelect

const KEY = [vendorEndpoints.project_id, vendorEndpoints.connection_id]

/** Reads the last check of a connection's endpoint. */
export function findEndpointCheck(db: Db, of: ConnectionPlace) {
  return db.select().from(vendorEndpoints).where(ofConnection(vendorEndpoints, of))
}

/** Stores the result of a check. The next check is due after a day, if the connection has a key for it. */
export function endpointChecked(db: Db, of: ConnectionPlace, { endpoint, findings }: EndpointResult, now: number) {
  const row = {
    ...of,
    due_at: ifKeyed(of, now + CHECKED_EVERY),
    checked_at: now,
    result: { endpoint, findings },
    error: null,
  }
  return upsert(db, row)
}

/** Records that a check failed. The earlier result stays. @param due when it is repeated (ms); null: never */
export function endpointUnchecked(db: Db, of: ConnectionPlace, error: VendorEndpointRow['error'], due: number | null) {
  const due_at = due === null ? null : ifKeyed(of, due)
  return db.update(vendorEndpoints).set({ due_at, error }).where(ofConnection(vendorEndpoints, of))
}

/** Makes the cron check an endpoint soon, because a key has just been set for its connection. */
export function endpointDue(db: Db, { project_id, connection_id }: ConnectionPlace, now: number) {
  const of = { project_id, connection_id }
  const row = { ...of, due_at: now, checked_at: null, result: null, error: null }
  const isKeyed = sql`${ifKeyed(of, now)} IS NOT NULL`
  return insertWhere(db, vendorEndpoints, row, isKeyed).onConflictDoUpdate({
    target: KEY,
    set: { due_at: excluded(vendorEndpoints.due_at), error: null },
  })
}

/** Ends the checks of an endpoint, because its connection no longer has a key. */
export function endpointNotDue(db: Db, of: ConnectionPlace) {
  return db.update(vendorEndpoints).set({ due_at: null, error: null }).where(ofConnection(vendorEndpoints, of))
}

/** Takes the endpoints whose check is due, the longest due first. If a worker does not finish one, it is due again after a while. */
export function takeDueChecks(db: Db, now: number) {
  const due = sql`SELECT ${vendorEndpoints.project_id}, ${vendorEndpoints.connection_id} FROM ${vendorEndpoints}
    INDEXED BY vendor_endpoints_due WHERE ${and(lte(vendorEndpoints.due_at, now), not(isDeleted(vendorEndpoints.project_id)))} ORDER BY ${vendorEndpoints.due_at} LIMIT ${MAX_CHECKS_BEGUN}`
  return db
    .update(vendorEndpoints)
    .set({ due_at: now + CHECK_LEASE })
    .where(sql`(${vendorEndpoints.project_id}, ${vendorEndpoints.connection_id}) IN (${due})`)
    .returning({ project_id: vendorEndpoints.project_id, connection_id: vendorEndpoints.connection_id })
}

/** Reads what is wrong with the endpoints of active connections, as far as they are still being checked. */
export function findEndpointFindings(db: Db, projectId: string) {
  const live = and(eq(connections.id, vendorEndpoints.connection_id), isNull(connections.deleted_at))
  return db
    .select({ name: connections.name, vendor: connections.vendor, result: vendorEndpoints.result })
    .from(vendorEndpoints)
    .innerJoin(connections, and(live, eq(connections.status, 'active')))
    .where(and(eq(vendorEndpoints.project_id, projectId), isNotNull(vendorEndpoints.due_at)))
    .orderBy(vendorEndpoints.connection_id)
}

function upsert(db: Db, row: Omit<VendorEndpointRow, 'due_at'> & { due_at: SQL }) {
  const { checked_at, result, error, due_at } = row
  return db
    .insert(vendorEndpoints)
    .values(row)
    .onConflictDoUpdate({ target: KEY, set: { due_at, checked_at, result, error } })
}

/** A time (ms), if the connection has a key that the vendor accepts; else null. */
function ifKeyed(of: ConnectionPlace, due: number): SQL<number | null> {
  const key = and(ofConnection(vendorKeys, of), eq(vendorKeys.state, 'ok'))
  return sql`iif(EXISTS (SELECT 1 FROM ${vendorKeys} WHERE ${key}), CAST(${due} AS INTEGER), NULL)`
}
