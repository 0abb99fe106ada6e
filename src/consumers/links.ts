import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { CustomerKey } from '../billing/customers/read'
import { billingObjects } from '../billing/schema'
import { type Db, type Query, raw } from '../db/client'
import { literals } from '../db/sql'
import { EVENT_ID_LENGTH } from '../lib/ids'
import { GUEST_NAMES } from '../vendors/guest'
import { customerLinks, ERASED_PINS } from './customers/schema'
import { MAX_CUSTOMERS, MAX_CUSTOMERS_COUNTED, MAX_CUSTOMERS_LOOKED_AT, MAX_PINNED } from './limits'
import { consumerIdOf, withEnd } from './read'
import type { ConsumerRef } from './ref'
import { consumerIds } from './schema'
import { firstIdOf } from './title'

const l = alias(customerLinks, 'l')
const i = alias(consumerIds, 'linked_ids')
const o = alias(billingObjects, 'o')

/** Of a pinned customer: the first external id of its consumer. */
const firstId = firstIdOf(sql`${l.project_id}`, l.pinned)
const isPinned = sql`${l.pinned} IS NOT NULL`
const rank = sql`CASE WHEN ${l.said} IS NOT NULL THEN ${l.said_rank} ELSE ${l.hint_rank} END`
/** The consumer that a customer is, in {@link linksOf}. */
export const consumerId = sql<
  string | null
>`CASE WHEN ${isPinned} THEN CASE WHEN ${l.pinned} GLOB 'csm_*' THEN ${l.pinned} END
  ELSE ${i.consumer_id} END`

/** The event that says which consumer a customer is, in {@link linksOf}. */
const eventId = sql<string | null>`CASE WHEN NOT ${isPinned} THEN substr(${rank}, -${EVENT_ID_LENGTH}) END`

const shown = {
  vendor: sql<string>`w.vendor`.as('vendor'),
  id: sql<string>`w.customer`.as('id'),
  consumer_id: consumerId.as('consumer_id'),
  external_id: sql<string | null>`CASE WHEN ${isPinned} THEN ${firstId} ELSE ${l.ref} END`.as('external_id'),
  linked_by: sql<'manual' | 'customer' | 'checkout' | null>`CASE WHEN ${isPinned} THEN 'manual'
    WHEN ${l.said} IS NOT NULL THEN 'customer' WHEN ${l.hint} IS NOT NULL THEN 'checkout' END`.as('linked_by'),
  event_id: eventId.as('event_id'),
  /** Whether the customer's consumer was erased. */
  erased: sql<boolean>`coalesce(${l.pinned} GLOB ${ERASED_PINS}, 0)`.mapWith(Boolean).as('erased'),
  /** Whether anything is recorded about the customer's consumer. */
  recorded: sql<boolean>`${l.customer} IS NOT NULL`.mapWith(Boolean).as('recorded'),
}

/** A vendor's customer, and which consumer it is. */
export type Link = ReturnType<typeof findLink>['_']['result'][number]
/** A customer; or, without `recorded`, the place that the next page starts after: see {@link listLinks}. */
export type ListedCustomer = Pick<Link, 'vendor' | 'id'> & {
  [Name in Exclude<keyof Link, 'vendor' | 'id'>]: Link[Name] | null
}

/** Selects customers `w` with their links. `walk` selects at least `customer` and `vendor`. */
export function linksOf(projectId: string, fields: SQL, walk: SQL): SQL {
  return sql`SELECT ${fields} FROM (${walk}) w
    LEFT JOIN ${customerLinks} ${l}
      ON ${l.project_id} = ${projectId} AND ${l.customer} = w.customer AND ${l.vendor} = w.vendor
    LEFT JOIN ${consumerIds} ${i} ON ${i.project_id} = ${projectId} AND ${i.external_id} = ${l.ref}`
}

/** Reads which consumer a customer is. There always is a row: see `recorded`. */
export function findLink(db: Db, projectId: string, { vendor, id }: CustomerKey) {
  return raw(db, shown, (fields) => linksOf(projectId, fields, sql`SELECT ${id} AS customer, ${vendor} AS vendor`))
}

/** The id of the event that says which consumer a customer is, as a subquery; NULL if none does. */
export function linkingEvent(projectId: string, { vendor, id }: CustomerKey): SQL {
  return linksOf(projectId, sql`${eventId}`, sql`SELECT ${id} AS customer, ${vendor} AS vendor`)
}

/** Reads which consumers these customers are: a row for each of them. */
export function findLinks(db: Db, projectId: string, customers: readonly CustomerKey[]) {
  const walk = sql`SELECT value->>'id' AS customer, value->>'vendor' AS vendor FROM json_each(${JSON.stringify(customers)})`
  return raw(db, shown, (fields) => linksOf(projectId, fields, walk))
}

/**
 * The customers of a consumer, as a subquery: the first so many that are pinned to it, and the first so many that each of its
 * external ids links.
 */
function ofConsumer(projectId: string, owner: SQL, most: number, from = sql`1`): SQL {
  const first = (index: SQL, condition: SQL) => sql`SELECT ${l.customer}, ${l.vendor}
    FROM ${customerLinks} ${l} INDEXED BY ${index} WHERE ${l.project_id} = ${projectId} AND ${condition} AND ${from}
    ORDER BY ${l.customer}, ${l.vendor} LIMIT ${most}`
  const linked = first(sql`customer_links_ref`, sql`${l.ref} IS NOT NULL AND ${l.ref} = ${i.external_id}`)
  // A list for each id, because SQLite takes no table that depends on another one of the same FROM.
  return sql`SELECT * FROM (${first(sql`customer_links_pinned`, sql`${l.pinned} = ${owner}`)})
    UNION ALL
    SELECT k.value->>0, k.value->>1 FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
    CROSS JOIN json_each((SELECT json_group_array(json_array(customer, vendor)) FROM (${linked}))) k
    WHERE ${i.project_id} = ${projectId} AND ${i.consumer_id} = ${owner}`
}

/** Reads the customers of a consumer, up to {@link MAX_CUSTOMERS}, in the order of their ids. */
export function customersOf(db: Db, projectId: string, ref: ConsumerRef) {
  const walk = ofConsumer(projectId, consumerIdOf(projectId, ref), MAX_CUSTOMERS)
  return raw(
    db,
    shown,
    (fields) => sql`${linksOf(projectId, fields, walk)} ORDER BY w.customer, w.vendor LIMIT ${MAX_CUSTOMERS}`,
  )
}

/** Selects customers of a consumer, up to so many, in no order. @param id only those with this id */
export function someOfConsumer(projectId: string, ref: ConsumerRef, most: number, id?: string): SQL {
  const isOne = id === undefined ? undefined : sql`${l.customer} = ${id}`
  return sql`SELECT customer, vendor FROM (${ofConsumer(projectId, consumerIdOf(projectId, ref), most, isOne)}) LIMIT ${most}`
}

/** The same for the consumer whose id an expression says. */
export function someOwnedBy(projectId: string, owner: SQL, most: number): SQL {
  return sql`SELECT customer, vendor FROM (${ofConsumer(projectId, owner, most)}) LIMIT ${most}`
}

/** Reads customers of a consumer, up to so many, in no order. */
export function someCustomersOf(db: Db, projectId: string, ref: ConsumerRef, most: number) {
  return raw(
    db,
    { id: sql<string>`customer`, vendor: sql<string>`vendor` },
    (fields) => sql`SELECT ${fields} FROM (${someOfConsumer(projectId, ref, most)})`,
  )
}

/** Reads the customers that are pinned to a consumer, up to one more than {@link MAX_PINNED}. */
export function pinnedTo(db: Db, projectId: string, ref: ConsumerRef) {
  return raw(
    db,
    { vendor: l.vendor, id: l.customer },
    (fields) => sql`SELECT ${fields} FROM ${customerLinks} ${l} INDEXED BY customer_links_pinned
      WHERE ${l.project_id} = ${projectId} AND ${l.pinned} = ${consumerIdOf(projectId, ref)} LIMIT ${MAX_PINNED + 1}`,
  )
}

/** The kinds of objects that name a customer. */
const NAMING = ['subscription', 'invoice', 'payment_method', 'purchase'] as const

/**
 * The customers that objects of a kind name, as a subquery: the first so many after `before`. Each step of the recursion finds
 * the next customer in the index, so a customer with many objects costs no more than one with few.
 */
function namedBy(
  projectId: string,
  { kind, guests }: { kind: (typeof NAMING)[number]; guests: boolean },
  before: CustomerKey | null,
  most: number,
): SQL {
  const first = (condition: SQL) => sql`(SELECT json_array(${o.customer}, ${o.vendor})
    FROM ${billingObjects} ${o} INDEXED BY billing_customer
    WHERE ${o.project_id} = ${projectId} AND ${o.kind} = ${literals([kind])} AND ${o.customer} IS NOT NULL AND ${condition}
    ORDER BY ${o.customer}, ${o.vendor} LIMIT 1)`
  // Only purchases have guests. They are stepped over, because there may be many.
  const [after, until] = [literals([GUEST_NAMES.after]), literals([GUEST_NAMES.before])]
  const later = (customer: SQL) =>
    kind !== 'purchase' || guests
      ? first(sql`${o.customer} > ${customer}`)
      : sql`coalesce(${first(sql`${o.customer} > ${customer} AND ${o.customer} < ${after}`)},
          ${first(sql`${o.customer} > max(${customer}, ${until})`)})`
  // Two look-ups: SQLite would walk all objects of the customer to find what follows a pair.
  const next = (customer: SQL, vendor: SQL) => sql`coalesce(
    ${first(sql`${o.customer} = ${customer} AND ${o.vendor} > ${vendor}`)}, ${later(customer)})`
  return sql`WITH RECURSIVE n(k) AS (
      SELECT ${next(sql`${before?.id ?? ''}`, sql`${before?.vendor ?? ''}`)}
      UNION ALL SELECT ${next(sql`k->>0`, sql`k->>1`)} FROM n WHERE k IS NOT NULL LIMIT ${most})
    SELECT k->>0, k->>1 FROM n WHERE k IS NOT NULL`
}

/** `pinned`: whether a pin says which consumer a customer is. */
type Asked = {
  linked?: boolean | undefined
  pinned?: boolean | undefined
  vendor?: string | undefined
  consumer?: ConsumerRef | undefined
  /** Whether guests whom nothing links are among them: see vendors/guest.ts. */
  guests?: boolean | undefined
}

/** The first so many customers of {@link listLinks} after `before`, in the order of their ids, as a subquery. */
function walkOf(
  projectId: string,
  { consumer, guests = false }: Pick<Asked, 'consumer' | 'guests'>,
  before: CustomerKey | null,
  most: number,
): SQL {
  const after = (id: SQL, of: SQL) =>
    before === null ? sql`1` : sql`(${id}, ${of}) > (${before.id}, ${before.vendor})`
  // A part of its own: a UNION of D1 has at most five, and a statement at most a hundred parameters.
  const named = NAMING.map((kind) => sql`SELECT * FROM (${namedBy(projectId, { kind, guests }, before, most)})`)
  const all = sql`
    SELECT * FROM (SELECT ${l.customer}, ${l.vendor} FROM ${customerLinks} ${l} NOT INDEXED
      WHERE ${l.project_id} = ${projectId} AND ${after(sql`${l.customer}`, sql`${l.vendor}`)}
      ORDER BY ${l.customer}, ${l.vendor} LIMIT ${most})
    UNION
    SELECT * FROM (SELECT ${o.vendor_id}, ${o.vendor} FROM ${billingObjects} ${o} INDEXED BY billing_key
      WHERE ${o.project_id} = ${projectId} AND ${o.kind} = 'customer' AND ${after(sql`${o.vendor_id}`, sql`${o.vendor}`)}
      ORDER BY ${o.vendor_id}, ${o.vendor} LIMIT ${most})
    UNION SELECT * FROM (${sql.join(named, sql` UNION `)})`
  const own =
    consumer &&
    ofConsumer(projectId, consumerIdOf(projectId, consumer), most, after(sql`${l.customer}`, sql`${l.vendor}`))
  return sql`SELECT customer, vendor FROM (${own ?? all}) ORDER BY customer, vendor LIMIT ${most}`
}

/** The condition on each customer of {@link linksOf}; undefined if there is none. */
function conditionOf({ linked, pinned, vendor }: Pick<Asked, 'linked' | 'pinned' | 'vendor'>): SQL | undefined {
  return and(
    linked === undefined ? undefined : linked ? sql`${consumerId} IS NOT NULL` : sql`${consumerId} IS NULL`,
    pinned === undefined ? undefined : pinned ? isPinned : sql`NOT (${isPinned})`,
    vendor === undefined ? undefined : sql`w.vendor = ${vendor}`,
  )
}

/**
 * Reads the customers of a project that have an event of their own, a claim or a pin, or that a billing object names, in the
 * order of their ids, starting after the customer `before`. If a filtered page is not full after {@link MAX_CUSTOMERS_LOOKED_AT} customers, or
 * {@link MAX_CUSTOMERS} of a consumer, it ends with a row that has only a vendor and an id.
 */
export function listLinks(
  db: Db,
  projectId: string,
  { linked, pinned, vendor, consumer, guests }: Asked,
  { before, take }: { before: CustomerKey | null; take: number },
): Query<ListedCustomer[]> {
  const rest = conditionOf({ linked, pinned, vendor })
  const most = !rest ? take : consumer ? MAX_CUSTOMERS : MAX_CUSTOMERS_LOOKED_AT
  const walk = walkOf(projectId, { consumer, guests }, before, most)
  const found = (fields: SQL) => sql`${linksOf(projectId, fields, walk)}
    WHERE ${rest ?? sql`1`} ORDER BY w.customer, w.vendor LIMIT ${take}`
  const place = { vendor: sql`vendor`, id: sql`customer` }
  const end = { place, from: sql`FROM (${walk})`, most: rest ? most : null }
  return raw(db, shown, (fields) => withEnd(Object.keys(shown), found(fields), end, take))
}

export function isLink(row: ListedCustomer): row is Link {
  return row.recorded !== null
}

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

/** The consumer that a customer is, as an expression over the names of one: two rows are read. */
export function consumerOf(projectId: SQL, { vendor, customer }: Record<'vendor' | 'customer', SQL>): SQL {
  return sql`(SELECT ${consumerId} FROM ${customerLinks} ${l}
    LEFT JOIN ${consumerIds} ${i} ON ${i.project_id} = ${l.project_id} AND ${i.external_id} = ${l.ref}
    WHERE ${l.project_id} = ${projectId} AND ${l.customer} = ${customer} AND ${l.vendor} = ${vendor})`
}

/**
 * Whether a customer waits for a consumer, as an expression over the names of one: it is linked to none, and nobody said that it has none. Two rows
 * are read.
 */
export function isUnlinked(projectId: SQL, { vendor, customer }: Record<'vendor' | 'customer', SQL>): SQL<boolean> {
  const settled = sql`SELECT 1 FROM ${customerLinks} ${l}
    LEFT JOIN ${consumerIds} ${i} ON ${i.project_id} = ${l.project_id} AND ${i.external_id} = ${l.ref}
    WHERE ${l.project_id} = ${projectId} AND ${l.customer} = ${customer} AND ${l.vendor} = ${vendor}
      AND (${isPinned} OR ${i.consumer_id} IS NOT NULL)`
  return sql`${customer} IS NOT NULL AND NOT EXISTS (${settled})`
}

/**
 * Counts customers that are linked to no consumer, among the first {@link MAX_CUSTOMERS_COUNTED}. `looked`: how many those are.
 *
 * @param pinned true for customers that were marked as no consumer, false for those that wait for one
 */
export function countUnlinked(db: Db, projectId: string, { pinned = false } = {}) {
  const isOne = conditionOf({ linked: false, pinned })
  const fields = { n: sql<number>`coalesce(sum(${isOne}), 0)`, looked: sql<number>`count(*)` }
  return raw(db, fields, (shown) => linksOf(projectId, shown, walkOf(projectId, {}, null, MAX_CUSTOMERS_COUNTED)))
}

/** Reads a customer, if it was erased. */
export function findErased(db: Db, projectId: string, { vendor, id }: CustomerKey) {
  const erased = isErased(sql`${projectId}`, { vendor: sql`${vendor}`, customer: sql`${id}` })
  return raw(db, { one: sql`1` }, (fields) => sql`SELECT ${fields} WHERE ${erased}`)
}

/** Reads which of these customers were erased. */
export function findErasedAmong(db: Db, projectId: string, vendor: string, ids: readonly string[]) {
  const id = sql<string>`j.value`
  const erased = isErased(sql`${projectId}`, { vendor: sql`${vendor}`, customer: id })
  return raw(db, { id }, (fields) => sql`SELECT ${fields} FROM json_each(${JSON.stringify(ids)}) j WHERE ${erased}`)
}
