import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { alias, unionAll } from 'drizzle-orm/sqlite-core'
import { billingObjects } from '../billing/schema'
import { type Db, type Query, raw } from '../db/client'
import { customerLinks } from './customers/schema'
import { referenceTo } from './guests'
import { CHUNK_ERASED } from './limits'
import { type ErasureCursor, erasures } from './schema'

const l = alias(customerLinks, 'l')
const o = alias(billingObjects, 'o')

/** An erasure, as the cron works on it. */
export type ErasureRow = typeof erasures.$inferSelect

/** Reads the next erasure that is due. A first pass comes before all daily ones, however late those are. */
export function nextDue(db: Db, now: number) {
  const isDue = lte(erasures.due_at, now)
  const earliest = (name: string, which: SQL | undefined) =>
    db.select().from(erasures).where(which).orderBy(erasures.due_at).limit(1).as(name)
  const first = db.select().from(earliest('first', and(isDue, isNull(erasures.finished_at))))
  const daily = db.select().from(earliest('daily', isDue))
  return unionAll(first, daily).limit(1)
}

/** The customers of an erasure, from the one that the cursor has reached, in their order. CROSS JOIN keeps it. */
export function customersFrom(
  { project_id, id }: ErasureRow,
  at: ErasureCursor,
): { from: SQL; where: SQL; isReached: SQL } {
  const names = sql`(${l.customer}, ${l.vendor})`
  const reached = sql`(${at.customer}, ${at.vendor})`
  return {
    from: sql`FROM ${customerLinks} ${l} INDEXED BY customer_links_pinned`,
    where: sql`${l.project_id} = ${project_id} AND ${l.pinned} = ${id} AND ${names} >= ${reached}`,
    isReached: sql`${names} = ${reached}`,
  }
}

/** Reads customers of an erasure. `reference`: the id by which events refer to one. */
export function selectCustomers(db: Db, erasure: ErasureRow, at: ErasureCursor) {
  const { from, where, isReached } = customersFrom(erasure, at)
  return raw(
    db,
    { customer: l.customer, vendor: l.vendor, reference: sql<string>`${referenceTo(l.vendor, l.customer)}` },
    (fields) => sql`SELECT ${fields} ${from} WHERE ${where} AND NOT ${isReached} LIMIT ${CHUNK_ERASED}`,
  )
}

/** Reads the names of subscriptions, invoices, payment methods and purchases of an erasure's customers. */
export function selectObjectsOf(db: Db, erasure: ErasureRow, at: ErasureCursor) {
  const { from, where, isReached } = customersFrom(erasure, at)
  return raw(
    db,
    { customer: l.customer, vendor: l.vendor, kind: o.kind, id: o.vendor_id },
    (fields) => sql`SELECT ${fields} ${from}
      CROSS JOIN json_each('["invoice", "payment_method", "purchase", "subscription"]') k
      CROSS JOIN ${billingObjects} ${o} INDEXED BY billing_customer ON ${o.project_id} = ${l.project_id}
        AND ${o.kind} = k.value AND ${o.customer} = ${l.customer} AND ${o.vendor} = ${l.vendor}
        AND ${o.vendor_id} > CASE WHEN ${isReached} AND k.value = ${at.kind} THEN ${at.id} ELSE '' END
      WHERE ${where} AND NOT (${isReached} AND k.value < ${at.kind}) LIMIT ${CHUNK_ERASED}`,
  )
}

/** Records how far an erasure has got. */
export function moveTo(
  db: Db,
  erasure: ErasureRow,
  set: Pick<ErasureRow, 'cursor' | 'due_at'> & { finished_at?: number },
): Query {
  return db.update(erasures).set(set).where(isErasure(erasure))
}

export function isErasure({ project_id, id }: ErasureRow) {
  return and(eq(erasures.project_id, project_id), eq(erasures.id, id))
}
