import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { saidBy } from '../billing/overdue/overdue'
import { billingObjects } from '../billing/schema'
import { customerLinks, ERASED_PINS } from '../consumers/customers/schema'
import { EXTERNAL } from '../consumers/ref'
import { type Db, raw } from '../db/client'
import { begins, literals } from '../db/sql'
import { namedOf } from '../entitlements/named'
import { FEWEST_OF_VENDOR_ID, MOST_OF_A_TYPE } from './limits'
import type { FoundRow, SearchSource } from './source'

const l = alias(customerLinks, 'l')
const o = alias(billingObjects, 'o')
const own = alias(billingObjects, 'own')

/** The kinds of objects that name a customer. */
const NAMING = literals(['subscription', 'invoice', 'payment_method', 'purchase'])
const isNotErased = sql`coalesce(${l.pinned}, '') NOT GLOB ${ERASED_PINS}`

const shown = {
  id: sql<string>`t.id`,
  title: sql<string>`coalesce(t.name, t.id)`,
  detail: sql<string | null>`iif(t.name IS NULL, t.link, t.id)`,
  vendor: sql<string>`t.vendor`,
  consumer_id: sql<null>`NULL`,
  livemode: sql<null>`NULL`,
  about: sql<null>`NULL`,
}

/** The keys of customers, as a subquery: by the first characters of an id that has a link or an own event; if only objects name it, by all of it. */
const keys = (project: string, text: string) => sql`
  SELECT * FROM (SELECT ${l.customer} AS id, ${l.vendor} AS vendor FROM ${customerLinks} ${l} NOT INDEXED
    WHERE ${l.project_id} = ${project} AND ${begins(l.customer, text)} AND ${isNotErased}
    ORDER BY ${l.customer}, ${l.vendor} LIMIT ${MOST_OF_A_TYPE})
  UNION SELECT * FROM (SELECT ${o.vendor_id}, ${o.vendor} FROM ${billingObjects} ${o} INDEXED BY billing_key
    WHERE ${o.project_id} = ${project} AND ${o.kind} = 'customer' AND ${begins(o.vendor_id, text)}
    ORDER BY ${o.vendor_id}, ${o.vendor} LIMIT ${MOST_OF_A_TYPE})
  UNION SELECT * FROM (SELECT ${o.customer}, ${o.vendor} FROM ${billingObjects} ${o} INDEXED BY billing_customer
    WHERE ${o.project_id} = ${project} AND ${o.kind} IN (${NAMING}) AND ${o.customer} IS NOT NULL AND ${o.customer} = ${text}
    LIMIT ${MOST_OF_A_TYPE})`

/** Customers by the vendor's id. The name is the vendor's, or else that of the consumer. Without customers that were erased with their consumers. */
export const CUSTOMERS: SearchSource<Db> = {
  type: 'customer',
  scope: 'billing:read',
  names: true,
  find: (db, project, { text }, { names }) => {
    if (text.length < FEWEST_OF_VENDOR_ID) return null
    const of = { vendor: sql`k.vendor`, customer: sql`k.id`, candidates: sql`NULL` }
    const consumer = sql`${namedOf(project, of, { consumer: names, plans: false })} ->> '$.consumer.title'`
    return raw(
      db,
      shown satisfies Record<keyof FoundRow, unknown>,
      (fields) => sql`SELECT ${fields} FROM (
        SELECT k.id, k.vendor, coalesce(${saidBy(own, 'name')}, ${consumer}, ${saidBy(own, 'email')}) AS name,
          coalesce(nullif(${l.pinned}, ''), ${EXTERNAL} || ${l.ref}) AS link
        FROM (${keys(project, text)}) k
        LEFT JOIN ${customerLinks} ${l} ON ${l.project_id} = ${project} AND ${l.customer} = k.id AND ${l.vendor} = k.vendor
        LEFT JOIN ${billingObjects} ${own} ON ${own.project_id} = ${project} AND ${own.kind} = 'customer'
          AND ${own.vendor_id} = k.id AND ${own.vendor} = k.vendor
        WHERE ${isNotErased} ORDER BY k.id, k.vendor LIMIT ${MOST_OF_A_TYPE}) t`,
    )
  },
}
