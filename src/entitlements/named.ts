import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { nameAtVendor } from '../billing/customers/names'
import type { ObjectKey, ReadBeside } from '../billing/read/store'
import { billingObjects } from '../billing/schema'
import { planRefs, plans } from '../catalog/schema'
import { consumerOf } from '../consumers/links'
import { consumers } from '../consumers/schema'
import { consumerTitle } from '../consumers/title'
import { type Db, raw } from '../db/client'
import { json } from '../db/sql'

/** The items or lines of a billing object whose plans are named. */
const NAMED_ITEMS = 20

/**
 * Whose a billing object is, and the plans of what it is for, by the vendor's price or product. `consumer` is null if none is linked.
 * `customer` is what the vendor calls the customer: the name or the email address, if one is known. A list has it only without a consumer.
 */
export type Named = {
  consumer: { id: string; title: string; state: string } | null
  customer: string | null
  plans: { ref: string; id: string; name: string }[]
}

const k = alias(consumers, 'k')
const o = alias(billingObjects, 'o')

/**
 * The names that belong to a billing object, as an expression over its columns: `Named` as JSON.
 *
 * @param whats what is looked up; the rest is null, or none. `customer`: what the vendor calls the customer, also of one with a consumer
 */
export function namedOf(
  projectId: string,
  { vendor, customer, candidates }: Record<'vendor' | 'customer' | 'candidates', SQL | Column>,
  whats: { consumer: boolean; customer?: boolean; plans: boolean },
): SQL {
  const owner = ownerOf(projectId, { vendor, customer })
  const consumer = sql`(SELECT json_object('id', ${k.id}, 'title', coalesce(${consumerTitle(sql`${projectId}`, k)}, ${k.id}), 'state', ${k.state})
    FROM ${consumers} ${k} WHERE ${k.project_id} = ${projectId} AND ${k.id} = whose.id)`
  const own = nameAtVendor(projectId, { vendor, customer })
  const payer = whats.customer ? own : sql`iif(whose.id IS NULL, ${own}, NULL)`
  const parts = sql`coalesce(${candidates} -> '$[0].body.items', ${candidates} -> '$[0].body.lines.data', '[]')`
  const sold = sql`(SELECT json_group_array(json_object('ref', ${planRefs.ref}, 'id', ${plans.id}, 'name', ${plans.name}))
    FROM (SELECT DISTINCT f.value AS ref FROM (SELECT value FROM json_each(${parts}) LIMIT ${NAMED_ITEMS}) j
      CROSS JOIN json_each(json_array(j.value ->> 'price', j.value ->> 'variant', j.value ->> 'product')) f WHERE f.value IS NOT NULL) w
    CROSS JOIN ${planRefs} ON ${planRefs.project_id} = ${projectId} AND ${planRefs.vendor} = ${vendor} AND ${planRefs.ref} = w.ref
    CROSS JOIN ${plans} ON ${plans.project_id} = ${projectId} AND ${plans.id} = ${planRefs.plan_id})`
  const plansOf = whats.plans ? sold : sql`'[]'`
  if (!whats.consumer) return sql`json_object('consumer', NULL, 'customer', NULL, 'plans', json(${plansOf}))`
  return sql`(SELECT json_object('consumer', json(${consumer}), 'customer', ${payer},
    'plans', json(${plansOf})) FROM (SELECT ${owner} AS id) whose)`
}

/** The plans of a billing object, as {@link namedOf} names them. */
export const plansIn =
  (projectId: string): ReadBeside =>
  (of) =>
    namedOf(projectId, of, { consumer: false, plans: true })

const ownerOf = (projectId: string, { vendor, customer }: Record<'vendor' | 'customer', SQL | Column>) =>
  consumerOf(sql`${projectId}`, { vendor: sql`${vendor}`, customer: sql`${customer}` })

/** Of the billing object with a key, the first of its vendors if none is named. */
function ofObject(projectId: string, { kind, id, vendor }: ObjectKey): SQL {
  return sql`FROM ${billingObjects} ${o} WHERE ${o.project_id} = ${projectId} AND ${o.kind} = ${kind}
    AND ${o.vendor_id} = ${id} AND ${vendor === undefined ? sql`1` : sql`${o.vendor} = ${vendor}`} ORDER BY ${o.vendor} LIMIT 1`
}

/** Reads the names that belong to one billing object. */
export function findNamed(db: Db, projectId: string, key: ObjectKey) {
  const shown = {
    named: json<Named>(namedOf(projectId, o, { consumer: true, customer: true, plans: true })).as('named'),
  }
  return raw(db, shown, (fields) => sql`SELECT ${fields} ${ofObject(projectId, key)}`)
}

/** Reads who a vendor's customer is: as {@link Named}, without plans. */
export function findOwner(db: Db, projectId: string, { vendor, id }: { vendor: string; id: string }) {
  const of = { vendor: sql`${vendor}`, customer: sql`${id}`, candidates: sql`NULL` }
  const shown = {
    owner: json<Named>(namedOf(projectId, of, { consumer: true, customer: true, plans: false })).as('owner'),
  }
  return raw(db, shown, (fields) => sql`SELECT ${fields}`)
}

/** The consumer that one billing object belongs to, as an expression. */
export function ownerOfObject(projectId: string, key: ObjectKey): SQL {
  return sql`(SELECT ${ownerOf(projectId, o)} ${ofObject(projectId, key)})`
}
