import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../db/client'
import { valuesOf } from '../../db/sql'
import { billingObjects } from '../schema'

/** A field of a customer, as its own events give it. */
export const own = (field: 'name' | 'email') =>
  sql<string | null>`${billingObjects.candidates}->>${sql.raw(`'$[0].body.${field}'`)}`.as(field)

/** Reads the names and email addresses of customers, as their own events give them, by their vendors' ids. */
export function namesOfCustomers(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ vendor: billingObjects.vendor, id: billingObjects.vendor_id, name: own('name'), email: own('email') })
    .from(billingObjects)
    .where(
      and(
        eq(billingObjects.project_id, projectId),
        eq(billingObjects.kind, 'customer'),
        inArray(billingObjects.vendor_id, valuesOf(ids)),
      ),
    )
}
