import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { CustomerKey } from '../billing/customers/read'
import { type Db, raw } from '../db/client'
import { customerLinks, ERASED_PINS } from './schema'

const x = alias(customerLinks, 'x')
/** As the index has it. */
const hasErasedPin = sql`${x.pinned} GLOB ${ERASED_PINS}`

/** Whether a customer was erased, as an expression over the names of one. It reads no row if it was not. */
export function isErased(
  projectId: SQL | Column,
  { vendor, customer }: Record<'vendor' | 'customer', SQL | Column>,
): SQL {
  const isOne = and(eq(x.project_id, projectId), eq(x.customer, customer), eq(x.vendor, vendor), hasErasedPin)
  return sql`EXISTS (SELECT 1 FROM ${customerLinks} ${x} INDEXED BY customer_links_erased WHERE ${isOne})`
}

/** Reads a customer, if it was erased. */
export function findErased(db: Db, projectId: string, { vendor, id }: CustomerKey) {
  const erased = isErased(sql`${projectId}`, { vendor: sql`${vendor}`, customer: sql`${id}` })
  return raw(db, { one: sql`1` }, (fields) => sql`SELECT ${fields} WHERE ${erased}`)
}
