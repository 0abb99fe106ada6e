import { and, eq, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, auditedFrom, type Change } from '../audit/store'
import type { CustomerKey } from '../billing/customers/read'
import { batch, type Db, run } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import { Fault } from '../lib/fault'
import { customerLinks, ERASED_PINS } from './customers/schema'
import { MAX_PINNED } from './limits'
import { findErased, findLink, type Link } from './links'
import { changeable, findConsumer } from './read'
import type { ConsumerRef } from './ref'
import { consumers } from './schema'

const c = alias(consumers, 'c')
const pinned = alias(customerLinks, 'p')

/** The pin of a customer that was erased stays. */
const isFree = sql`(${customerLinks.pinned} IS NULL OR ${customerLinks.pinned} NOT GLOB ${ERASED_PINS})`

/** What a pin says if the customer is no consumer. */
export const NOBODY = ''

type Of = { project_id: string; customer: CustomerKey }

/**
 * Pins a customer to a consumer, whatever events say. The same pin again changes nothing. The customer may be one
 * that no event has named yet.
 *
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `pin_limit_reached`
 */
export async function pinCustomer(
  db: Db,
  { project_id, customer }: Of,
  to: ConsumerRef,
  change: Change,
): Promise<Link> {
  const { id } = changeable(await run(db, findConsumer(db, project_id, to)))
  const isThere = and(eq(c.project_id, project_id), eq(c.id, id), isNull(c.merged_into), ne(c.state, 'erased'))
  const from = sql`FROM ${consumers} ${c} WHERE ${isThere} AND ${countPins(project_id, id)} < ${MAX_PINNED}`
  const { link, consumer, erased } = await batch(db, {
    ...audited(db, change, entry(project_id, customer, id), upsert(db, { project_id, customer }, id, from)),
    link: findLink(db, project_id, customer),
    consumer: findConsumer(db, project_id, { id }),
    erased: findErased(db, project_id, customer),
  })
  requireNotErased(erased)
  const [row] = link
  if (row?.linked_by === 'manual' && row.consumer_id === id) return row
  changeable(consumer) // it may have been merged or erased since it was read
  throw new Fault('pin_limit_reached', `At most ${MAX_PINNED} customers can be pinned to one consumer.`)
}

/** Pins a customer to no consumer, whatever events say. @throws {Fault} `consumer_erased` */
export async function pinToNobody(db: Db, { project_id, customer }: Of, change: Change): Promise<Link> {
  const { link, erased } = await batch(db, {
    ...audited(
      db,
      change,
      entry(project_id, customer, null),
      upsert(db, { project_id, customer }, NOBODY, sql`WHERE true`),
    ),
    link: findLink(db, project_id, customer),
    erased: findErased(db, project_id, customer),
  })
  requireNotErased(erased)
  return link[0] as Link
}

function upsert(db: Db, { project_id, customer }: Of, value: string, from: SQL) {
  const { pinned: column } = customerLinks
  const { id, vendor } = customer
  return insertFrom(
    db,
    customerLinks,
    { project_id: sql`${project_id}`, customer: sql`${id}`, vendor: sql`${vendor}`, pinned: sql`${value}` },
    sql`${from} ON CONFLICT DO UPDATE SET ${bare(column)} = ${excluded(column)} WHERE ${column} IS NOT ${excluded(column)}
      AND ${isFree}`,
  )
}

/**
 * Removes the pin of a customer, so that what events say counts again. Without a pin, nothing changes.
 *
 * @throws {Fault} `consumer_erased`
 */
export async function unpin(db: Db, { project_id, customer }: Of, change: Change): Promise<void> {
  const { said, hint, pinned: column } = customerLinks
  const isIt = and(
    eq(customerLinks.project_id, project_id),
    eq(customerLinks.customer, customer.id),
    eq(customerLinks.vendor, customer.vendor),
  )
  const isPinned = and(isIt, isNotNull(column), isFree)
  const { erased } = await batch(db, {
    audit: auditedFrom(
      db,
      change,
      { action: 'customer.unpinned', object_type: 'customer', object_id: customer.id },
      {
        taken: {
          project_id: customerLinks.project_id,
          details: sql`json_object('vendor', ${customerLinks.vendor}, 'consumer', nullif(${column}, ${NOBODY}))`,
        },
        from: sql`FROM ${customerLinks} WHERE ${isPinned}`,
      },
    ),
    // A trigger records which consumer it was.
    unpinned: db.update(customerLinks).set({ pinned: null }).where(isPinned),
    // Without a claim, nothing is left to keep.
    emptied: db.delete(customerLinks).where(and(isIt, isNull(column), isNull(said), isNull(hint))),
    erased: findErased(db, project_id, customer),
  })
  requireNotErased(erased)
}

/** How many customers are pinned to a consumer, as an expression. */
export function countPins(projectId: string, id: string): SQL {
  return sql`(SELECT count(*) FROM ${customerLinks} ${pinned} INDEXED BY customer_links_pinned
    WHERE ${pinned.project_id} = ${projectId} AND ${pinned.pinned} = ${id})`
}

/** Moves the pins of a consumer to another one. */
export function movePins(db: Db, projectId: string, from: string, to: string) {
  const { project_id, customer, vendor } = customerLinks
  const moving = sql`SELECT ${pinned.customer}, ${pinned.vendor} FROM ${customerLinks} ${pinned} INDEXED BY customer_links_pinned
    WHERE ${pinned.project_id} = ${projectId} AND ${pinned.pinned} = ${from}`
  return db
    .update(customerLinks)
    .set({ pinned: to })
    .where(and(eq(project_id, projectId), sql`(${customer}, ${vendor}) IN (${moving})`))
}

/** The audit entry of a pin. @param consumer null for no consumer */
function entry(project_id: string, { vendor, id }: CustomerKey, consumer: string | null) {
  const details = { vendor, consumer }
  return { project_id, action: 'customer.pinned', object_type: 'customer', object_id: id, details }
}

/** @param erased the customer, if it was erased. @throws {Fault} `consumer_erased` */
function requireNotErased(erased: readonly unknown[]): void {
  if (erased.length === 0) return
  throw new Fault('consumer_erased', 'The consumer of this customer was erased. The customer cannot be linked again.')
}
