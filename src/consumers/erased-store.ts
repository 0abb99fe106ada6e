import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { CustomerOf } from '../billing/store'
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

/** Reads which of these customers were erased. */
export function findErased(db: Db, customers: readonly CustomerOf[]) {
  const list = JSON.stringify(customers.map(({ project_id, vendor, customer }) => [project_id, vendor, customer]))
  return raw(
    db,
    { project_id: x.project_id, vendor: x.vendor, customer: x.customer },
    (fields) => sql`SELECT ${fields} FROM json_each(${list}) j
      CROSS JOIN ${customerLinks} ${x} INDEXED BY customer_links_erased
      ON ${x.project_id} = j.value->>0 AND ${x.vendor} = j.value->>1 AND ${x.customer} = j.value->>2 AND ${hasErasedPin}`,
  )
}
