import { and, type Column, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../db/client'
import { valuesOf } from '../../db/sql'
import { saidBy } from '../overdue/overdue'
import { billingObjects } from '../schema'

const said = (field: string) => sql<string | null>`${saidBy(billingObjects, field)}`.as(field)
/** A customer by its vendor and id, with the name and email address that its own events give. */
export const NAME_FIELDS = {
  vendor: billingObjects.vendor,
  id: billingObjects.vendor_id,
  name: said('name'),
  email: said('email'),
}

const payer = alias(billingObjects, 'payer')

/** What the vendor calls a customer, as an expression over the names of one: the name or the email address of its own events. A row is read. */
export function nameAtVendor(
  projectId: string,
  { vendor, customer }: Record<'vendor' | 'customer', SQL | Column>,
): SQL {
  return sql`(SELECT coalesce(${saidBy(payer, 'name')}, ${saidBy(payer, 'email')}) FROM ${billingObjects} ${payer}
    WHERE ${payer.project_id} = ${projectId} AND ${payer.kind} = 'customer' AND ${payer.vendor_id} = ${customer} AND ${payer.vendor} = ${vendor})`
}

const livemode = sql<boolean | null>`${saidBy(billingObjects, 'livemode')}`.mapWith(Boolean).as('livemode')

/** Reads the names, email addresses and modes of customers, as their own events give them, by their vendors' ids. */
export function namesOfCustomers(db: Db, projectId: string, ids: readonly string[]) {
  return db
    .select({ ...NAME_FIELDS, livemode })
    .from(billingObjects)
    .where(
      and(
        eq(billingObjects.project_id, projectId),
        eq(billingObjects.kind, 'customer'),
        inArray(billingObjects.vendor_id, valuesOf(ids)),
      ),
    )
}
