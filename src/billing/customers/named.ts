import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Db, raw, run } from '../../db/client'
import { limitedLook, looksFor, union } from '../../db/names'
import { begins, lowered } from '../../db/sql'
import { keysOf } from '../../lib/names'
import { CUSTOMERS_KEYED_AT_ONCE } from '../limits'
import { saidBy } from '../overdue/overdue'
import { billingObjects, CALLED, customerNames, WITHOUT_KEYS } from '../schema'

const { project_id, kind, vendor, vendor_id, name_keys } = billingObjects
const NAMES = { table: customerNames, of: { v: customerNames.vendor, i: customerNames.customer } }

/** Whether {@link CALLED} or {@link EMAIL_OF_CUSTOMER} begins with a text in lower case, as its partial index can answer it. */
export const indexBegins = (indexed: SQL, lower: string) => sql`${indexed} IS NOT NULL AND ${begins(indexed, lower)}`

/**
 * Customers whose names have words that begin with those of a text, in any order, as a subquery of their vendors (`v`) and ids (`i`). A name that has no keys
 * yet is found by its first letters, of which A to Z are the same as a to z.
 *
 * @param most customers whose names begin with all of the text
 */
export function customersNamed(projectId: string, text: string, most: number): SQL {
  const first = sql`SELECT ${vendor} AS v, ${vendor_id} AS i FROM ${billingObjects}
    WHERE ${project_id} = ${projectId} AND ${kind} = 'customer' AND ${indexBegins(CALLED, lowered(text))} ORDER BY ${CALLED}`
  return union([...looksFor(NAMES, projectId, text, most), limitedLook(sql`v, i`, first, most)])
}

/** As `addConsumerKeys` in consumers/names.ts, for customers. */
export async function addCustomerKeys(db: Db): Promise<{ done: number; after: string | null }> {
  const name = sql<string>`${saidBy(billingObjects, 'name')}`
  const rows = await run(
    db,
    raw(
      db,
      { project_id, vendor, vendor_id, name },
      (fields) =>
        sql`SELECT ${fields} FROM ${billingObjects} INDEXED BY billing_without_keys WHERE ${project_id} > '' AND ${WITHOUT_KEYS} LIMIT ${CUSTOMERS_KEYED_AT_ONCE}`,
    ),
  )
  if (rows.length === 0) return { done: 0, after: null }
  const list = JSON.stringify(rows.map((row) => ({ ...row, keys: keysOf(row.name) })))
  const of = (field: string) => sql.raw(`j.value->>'${field}'`)
  const isKey = sql`${project_id} = ${of('project_id')} AND ${vendor_id} = ${of('vendor_id')} AND ${vendor} = ${of('vendor')}`
  await run(
    db,
    db
      .update(billingObjects)
      .set({ name_keys: sql`${of('keys')}` })
      .from(sql`json_each(${list}) j`)
      .where(and(eq(kind, 'customer'), isKey, isNull(name_keys), sql`${name} = ${of('name')}`)),
  )
  return { done: rows.length, after: 'more' }
}
