import { type Column, type SQL, sql } from 'drizzle-orm'
import { literals } from '../db/sql'
import { GUEST_NAMES, VENDOR_OF_GUESTS } from '../vendors/guest'

/** What events refer to when they are about a customer, as an expression over its names: its id, or the payment of a guest, whom no event names. */
export function referenceTo(vendor: SQL | Column, customer: SQL | Column): SQL {
  const [isOf, after, before] = [VENDOR_OF_GUESTS, GUEST_NAMES.after, GUEST_NAMES.before].map((text) =>
    literals([text]),
  )
  const first = sql.raw(String(GUEST_NAMES.after.length + 1))
  return sql`iif(${vendor} = ${isOf} AND ${customer} > ${after} AND ${customer} < ${before}, substr(${customer}, ${first}), ${customer})`
}
