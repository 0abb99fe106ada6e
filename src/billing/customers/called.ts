import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { type Db, raw } from '../../db/client'
import { lowered } from '../../db/sql'
import type { ObjectKind } from '../../lib/billing-kinds'
import { billingObjects, CALLED, EMAIL_OF_CUSTOMER } from '../schema'
import { customersNamed, indexBegins } from './named'
import { NAME_FIELDS } from './names'

const { project_id, kind: kindOf, vendor, vendor_id } = billingObjects

/**
 * Reads up to `take` customers whose names have words that begin with those of a text, or whose email address begins with it, in any order.
 */
export function listCalled(db: Db, projectId: string, text: string, take: number) {
  const byEmail = sql`SELECT * FROM (SELECT ${vendor} AS v, ${vendor_id} AS i FROM ${billingObjects}
    WHERE ${project_id} = ${projectId} AND ${kindOf} = 'customer' AND ${indexBegins(EMAIL_OF_CUSTOMER, lowered(text))} LIMIT ${take})`
  return raw(
    db,
    NAME_FIELDS,
    (
      columns,
    ) => sql`SELECT ${columns} FROM (SELECT v, i FROM ${customersNamed(projectId, text, take)} UNION ${byEmail} LIMIT ${take}) k
      CROSS JOIN ${billingObjects} ON ${project_id} = ${projectId} AND ${kindOf} = 'customer'
        AND ${vendor} = k.v AND ${vendor_id} = k.i`,
  )
}
export type CalledCustomer = ReturnType<typeof listCalled>['_']['result'][number]

/** Reads up to two objects of a kind that have this number, such as an invoice. The letters A to Z are the same as a to z. */
export function findNumbered(db: Db, projectId: string, kind: ObjectKind, number: string) {
  const isNumber = sql`${CALLED} IS NOT NULL AND ${CALLED} = ${lowered(number)}`
  // Named, because SQLite would rather read all objects of the kind.
  return raw(
    db,
    { id: vendor_id, vendor },
    (columns) => sql`SELECT ${columns} FROM ${billingObjects} INDEXED BY billing_called
      WHERE ${and(eq(project_id, projectId), eq(kindOf, kind), isNotNull(billingObjects.updated), isNumber)} LIMIT 2`,
  )
}
