import { and, asc, type Column, desc, eq, gte, isNotNull, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, type Query, raw } from '../../db/client'
import { fitsPage, json, literals } from '../../db/sql'
import type { Order } from '../../http/page'
import type { ObjectKind, ShownKind } from '../../lib/billing-kinds'
import { MONEY_ON_INVOICES } from '../../vendors/purchase'
import {
  MAX_MEASURED,
  MAX_OWN_CUSTOMERS,
  MAX_SCANNED,
  MAX_SCANNED_BODIES,
  MAX_SCANNED_OF_SET,
  MAX_SORTED,
} from '../limits'
import { isKnownOverdue } from '../overdue/overdue'
import { overdueSubscriptions } from '../overdue/schema'
import { moneyBack } from '../purchases/columns'
import type { StoredBody } from '../reduce'
import { billingObjects } from '../schema'
import { conditionsOnBody, type ObjectFilters, type OnItems } from './filters'
import { isLive, isTest } from './mode'

/** A place in a list: what it is sorted by. */
export type Position = { updated: string; vendor_id: string; vendor: string }

/** An object of a list. */
export const o = alias(billingObjects, 'o')
const card = alias(billingObjects, 'card')
const owner = alias(billingObjects, 'owner')
const money = alias(billingObjects, 'money')

const shown = {
  kind: sql<ShownKind>`${o.kind}`.as('kind'),
  vendor: o.vendor,
  vendor_id: o.vendor_id,
  updated: sql<string>`${o.updated}`.as('updated'),
  ambiguous: o.ambiguous,
  incomplete: o.incomplete,
  /** The state that the winning event gives the object. Null of a payment whose sale is not known: only `findObject` reads it. */
  body: json<StoredBody>(sql`${o.candidates}->'$[0].body'`).as('body'),
  /** The winning event. */
  event_id: sql<string>`${o.candidates}->>'$[0].event_id'`.as('event_id'),
  /** Of a payment method: its card, where the vendor's payments tell of it. */
  card: json<StoredBody | null>(sql`${card.candidates}->'$[0].body'`).as('card'),
  /** Of a payment method: whether an event of its customer is known, and the default that the customer has. */
  customer_known: sql<boolean>`${owner.vendor_id} IS NOT NULL`.mapWith(Boolean).as('customer_known'),
  /** Of an invoice: the money that came back, which is in the row of a purchase with the same id. */
  money: json<Partial<StoredBody> | null>(
    sql`CASE WHEN ${money.vendor_id} IS NOT NULL THEN json_object(${moneyBack(money)}) END`,
  ).as('money'),
  default_method: sql<string | null>`${owner.candidates}->>'$[0].body.default_payment_method'`.as('default_method'),
}
/** Whether a row is of the same vendor and project as an object, and has this id. */
const isNamed = (row: typeof card | typeof owner | typeof money, id: Column) =>
  and(eq(row.project_id, o.project_id), eq(row.vendor_id, id), eq(row.vendor, o.vendor))
const isMethod = eq(o.kind, 'payment_method')
const isItsCard = and(isMethod, eq(card.kind, 'payment_card'), isNamed(card, o.vendor_id))
const isItsOwner = and(isMethod, eq(owner.kind, 'customer'), isNamed(owner, o.customer))
// The condition is in the key: a purchase would find itself otherwise, one row more for each of a page.
const isPaidFor = sql`${o.kind} = 'invoice' AND ${o.vendor} IN (${literals(MONEY_ON_INVOICES)})`
const isItsMoney = and(sql`${money.kind} = iif(${isPaidFor}, 'purchase', NULL)`, isNamed(money, o.vendor_id))

/** An object by its vendor's id. `vendor`: which one, where two vendors use the same id. */
export type ObjectKey = { kind: ShownKind; id: string; vendor?: string | undefined }

function isObject(projectId: string, { kind, id, vendor }: ObjectKey): SQL | undefined {
  const key = and(eq(o.project_id, projectId), eq(o.kind, kind), eq(o.vendor_id, id))
  return and(key, vendor === undefined ? undefined : eq(o.vendor, vendor))
}

/**
 * Reads an object. If two vendors use its id and no vendor is given: the first by the vendor's name.
 *
 * @param beside what else is read of it
 */
export function findObject(db: Db, projectId: string, key: ObjectKey, beside: ReadBeside = nothing) {
  return selectObjects(db, beside).where(isObject(projectId, key)).orderBy(o.vendor).limit(1)
}

/**
 * Reads several objects, as {@link findObject} does.
 *
 * @param how.largest how many bytes a row may have: others are left out
 */
export function findObjects(
  db: Db,
  projectId: string,
  keys: readonly Required<ObjectKey>[],
  how: { beside?: ReadBeside; largest?: number } = {},
) {
  const asked = JSON.stringify(keys.map(({ kind, vendor, id }) => [kind, vendor, id]))
  const isAsked = sql`(${o.kind}, ${o.vendor}, ${o.vendor_id}) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${asked}))`
  const fits = how.largest === undefined ? undefined : sql`octet_length(${o.candidates}) <= ${how.largest}`
  return selectObjects(db, how.beside ?? nothing).where(and(eq(o.project_id, projectId), isAsked, fits))
}

/** Reads the subscription that an invoice names, as {@link findObject} does. */
export function findSubscriptionOf(db: Db, projectId: string, invoice: Omit<ObjectKey, 'kind'>, beside: ReadBeside) {
  const isInvoice = isObject(projectId, { ...invoice, kind: 'invoice' })
  const named = sql`SELECT ${o.subscription}, ${o.vendor} FROM ${billingObjects} ${o} WHERE ${isInvoice} ORDER BY ${o.vendor} LIMIT 1`
  const isIt = sql`(${o.vendor_id}, ${o.vendor}) = (${named})`
  return selectObjects(db, beside).where(and(eq(o.project_id, projectId), eq(o.kind, 'subscription'), isIt))
}

function selectObjects(db: Db, beside: ReadBeside) {
  return db
    .select({ ...shown, beside: json<unknown>(beside(o)).as('beside') })
    .from(o)
    .leftJoin(card, isItsCard)
    .leftJoin(owner, isItsOwner)
    .leftJoin(money, isItsMoney)
}

/** Reads whether an object is an overdue subscription, at a time (ms): a row if so. The object is that of {@link findObject}. */
export function findOverdue(db: Db, projectId: string, key: ObjectKey, now: number) {
  return db
    .select({ id: o.vendor_id })
    .from(o)
    .where(and(isObject(projectId, key), isKnownOverdue(o, now)))
    .limit(1)
}
export type ObjectRow = Awaited<ReturnType<typeof findObject>>[number]

/** The id of the event that the state of an object comes from, as a subquery. The object is that of {@link findObject}. */
export function sourceOf(db: Db, projectId: string, key: ObjectKey) {
  return db.select({ event_id: shown.event_id }).from(o).where(isObject(projectId, key)).orderBy(o.vendor).limit(1)
}

/**
 * A row of a list. `object`: an object. `over`: an object that no longer fits into the page's bytes. `end`: the last row
 * that was looked at, after which the next page starts. The last two have only their position.
 */
export type ListedRow = ListedObject | (Position & { part: 'over' | 'end' })
export type ListedObject = ObjectRow & { part: 'object' }

/** What else is read of each object: an expression over its columns, which is JSON. */
export type ReadBeside = (of: typeof o) => SQL
const nothing: ReadBeside = () => sql`NULL`

/** The customers that a list is limited to. The caller knows which customers belong together. */
export type CustomerSet = {
  /** Selects the `customer` and the `vendor` of each, up to so many, without repeats. */
  first: (most: number) => SQL
  /** Whether an object belongs to one of them: an expression over the object's columns. */
  has: (of: typeof o) => SQL
}

/**
 * What an item or a line of an object may take as JSON beside what is stored of it: its fields that are null are not
 * stored, but shown.
 */
const BYTES_OF_NULLS = 250

export type ListedBy = {
  filters: ObjectFilters
  order?: Order | undefined
  /** The last row of the previous page; null for the first page. */
  before: Position | null
  take: number
  bytes: number
  customers?: CustomerSet | undefined
  onItems?: OnItems | undefined
  beside?: ReadBeside | undefined
}

/**
 * Reads objects of a kind, the latest change first; where times are equal, in the descending order of their ids. `order: 'asc'`
 * turns both. Where the page is not full after {@link MAX_SCANNED} rows, it ends with the last row that was looked at.
 *
 * @param by.bytes how much the objects may take together; the last of them may go beyond
 * @param by.customers only objects of these
 */
export function listObjects(db: Db, projectId: string, kind: ObjectKind, by: ListedBy): Query<ListedRow[]> {
  const { order, before, take, bytes, beside = nothing } = by
  const ofKind = and(eq(o.project_id, projectId), eq(o.kind, kind))
  const { index, changed, rest, most } = planOf(by)
  const isAfter = order === 'asc' ? sql`>` : sql`<`
  const after = before
    ? sql`(${o.updated}, ${o.vendor_id}, ${o.vendor}) ${isAfter} (${before.updated}, ${before.vendor_id}, ${before.vendor})`
    : undefined
  const way = order === 'asc' ? asc : desc
  const inOrder = sql`${way(o.updated)}, ${way(o.vendor_id)}, ${way(o.vendor)}`
  const walk = (columns: SQL) => sql`SELECT ${columns} FROM ${billingObjects} ${o} INDEXED BY ${index}
    WHERE ${and(ofKind, changed, after)} ORDER BY ${inOrder}`
  const few = fewOf(ofKind, by)
  // With a limit of 0, SQLite does not start the walk. A condition would be checked for every row.
  const unlessFew = (limit: number) => (few ? sql`iif(${ARE_FEW}, 0, ${limit})` : sql`${limit}`)
  const sorted =
    few && sql`SELECT * FROM (${few.all} AND ${and(changed, after)} LIMIT iif(${ARE_FEW}, ${MAX_SORTED}, 0)) UNION ALL`
  const found = sql`${sorted} SELECT * FROM (${walk(sql`*`)} LIMIT ${unlessFew(most)})`
  const page = sql`SELECT * FROM (${found}) ${o} WHERE ${rest} ORDER BY ${inOrder} LIMIT ${take}`
  const measured = sql`SELECT *, ${fitsPage(SIZE, bytes)} AS fits FROM (${page}) ${o}`
  const columns = {
    ...shown,
    // What no longer fits is not parsed.
    body: json<StoredBody>(sql`iif(fits, ${o.candidates}->'$[0].body', NULL)`).as('body'),
    event_id: sql<string>`iif(fits, ${o.candidates}->>'$[0].event_id', NULL)`.as('event_id'),
    part: sql<ListedRow['part']>`iif(fits, 'object', 'over')`.as('part'),
    beside: json<unknown>(sql`iif(fits, ${beside(o)}, NULL)`).as('beside'),
  }
  const end = sql.join(
    Object.keys(columns).map((name) => {
      if (name === 'part') return sql`'end'`
      return name === 'vendor' || name === 'vendor_id' || name === 'updated' ? sql`${o[name]}` : sql`NULL`
    }),
    sql`, `,
  )
  // SQLite runs the second part only where the first one has fewer rows than the limit.
  return raw(
    db,
    columns,
    (fields) => sql`
      ${few?.size}
      SELECT * FROM (
        SELECT ${fields} FROM (${measured}) ${o}
        LEFT JOIN ${billingObjects} ${card} ON fits AND ${isItsCard}
        LEFT JOIN ${billingObjects} ${owner} ON fits AND ${isItsOwner}
        LEFT JOIN ${billingObjects} ${money} ON fits AND ${isItsMoney}
        ORDER BY ${inOrder})
      UNION ALL
      SELECT * FROM (${walk(end)} LIMIT ${unlessFew(1)} OFFSET ${most - 1})
      LIMIT ${take}`,
  ) as Query<ListedRow[]>
}

/**
 * About what an object takes as JSON when it is shown. A large row counts with all that it stores: the database would parse
 * the whole row to measure its first candidate, and serves nobody else meanwhile.
 */
const SIZE = sql`CASE WHEN octet_length(${o.candidates}) > ${MAX_MEASURED} THEN octet_length(${o.candidates})
  ELSE octet_length(${o.candidates}->'$[0].body') + ${BYTES_OF_NULLS} *
    (coalesce(json_array_length(${o.candidates}, '$[0].body.lines.data'), 0)
    + coalesce(json_array_length(${o.candidates}, '$[0].body.items'), 0)) END`

/**
 * For a list of one customer or of several. `all` selects their objects by the index by customer. `size` comes before the statement
 * and says whether these are few enough to read and sort them all. If not, the list walks the objects of all customers from the latest
 * change: an index by customer and last change would cost every event one more written row.
 */
export function fewOf(
  ofKind: SQL | undefined,
  { filters: { customer, overdue }, customers }: Pick<ListedBy, 'filters' | 'customers'>,
) {
  if (customer === undefined && !customers) return overdue?.is ? fewOverdue(ofKind) : undefined
  const own = customers && sql`own AS MATERIALIZED (${customers.first(MAX_OWN_CUSTOMERS + 1)}),`
  const isOwn = customers
    ? sql`${o.customer} = own.customer AND ${o.vendor} = own.vendor`
    : eq(o.customer, customer ?? '')
  const from = sql`FROM ${customers && sql`own CROSS JOIN`} ${billingObjects} ${o} INDEXED BY billing_customer
    WHERE ${and(ofKind, isOwn)}`
  const areAll = customers && sql`(SELECT count(*) FROM own) <= ${MAX_OWN_CUSTOMERS} AND`
  return {
    size: sql`WITH ${own} size AS MATERIALIZED (
      SELECT ${areAll} NOT EXISTS (SELECT 1 ${from} LIMIT 1 OFFSET ${MAX_SORTED}) AS few)`,
    all: sql`SELECT ${o}.* ${from}`,
  }
}
/** The same for the overdue subscriptions that the cron found in its last walk. */
function fewOverdue(ofKind: SQL | undefined) {
  const due = overdueSubscriptions
  const from = sql`FROM ${due} CROSS JOIN ${billingObjects} ${o} ON ${o.project_id} = ${due.project_id}
    AND ${o.vendor} = ${due.vendor} AND ${o.vendor_id} = ${due.vendor_id} WHERE ${ofKind} AND ${due.project_id} = ${o.project_id}`
  return {
    size: sql`WITH size AS MATERIALIZED (SELECT NOT EXISTS (SELECT 1 ${from} LIMIT 1 OFFSET ${MAX_SORTED}) AS few)`,
    all: sql`SELECT ${o}.* ${from}`,
  }
}
export const ARE_FEW = sql`(SELECT few FROM size)`

/** The index by last change, what a list asks of it, what it then checks in each row, and how many rows it reads at most. */
export function planOf({ filters, customers, onItems }: Pick<ListedBy, 'filters' | 'customers' | 'onItems'>) {
  const { customer, subscription, status, vendor, updated_after, overdue, livemode } = filters
  const inBodies = conditionsOnBody(o, filters, onItems)
  return {
    index: livemode === false ? sql`billing_test` : sql`billing_changed`,
    changed: and(
      isNotNull(o.updated),
      updated_after === undefined ? undefined : gte(o.updated, updated_after),
      livemode === false ? isTest(o) : undefined,
    ),
    rest: and(
      status === undefined ? ne(o.status, 'deleted') : eq(o.status, status),
      customer === undefined ? undefined : eq(o.customer, customer),
      subscription === undefined ? undefined : eq(o.subscription, subscription),
      vendor === undefined ? undefined : eq(o.vendor, vendor),
      livemode === true ? isLive(o) : undefined,
      ...inBodies,
      overdue && sql`coalesce(${isKnownOverdue(o, overdue.now)}, 0) = ${Number(overdue.is)}`,
      // The last one, because it reads rows. If they are few, only theirs were read.
      customers && sql`iif(${ARE_FEW}, 1, ${customers.has(o)})`,
    ),
    most:
      inBodies.length > 0 || (customers && livemode)
        ? MAX_SCANNED_BODIES
        : customers || overdue || livemode
          ? MAX_SCANNED_OF_SET
          : MAX_SCANNED,
  }
}
