import { and, desc, eq, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, type Query, raw } from '../../db/client'
import { json } from '../../db/sql'
import type { ObjectKind } from '../../lib/billing-kinds'
import type { Bodies, PaymentCardBody } from '../../vendors/objects'
import { MAX_SCANNED } from '../limits'
import { billingObjects } from '../schema'

/** A place in a list: the key of a row. */
export type Position = { vendor_id: string; vendor: string }

/** What a list can be filtered by. */
export type ObjectFilters = {
  customer?: string | undefined
  subscription?: string | undefined
  status?: string | undefined
  vendor?: string | undefined
}

const o = alias(billingObjects, 'o')
const card = alias(billingObjects, 'card')

const shown = {
  vendor: o.vendor,
  vendor_id: o.vendor_id,
  ambiguous: o.ambiguous,
  /** The state that the winning event gives the object. */
  body: json<Bodies[ObjectKind]>(sql`${o.candidates}->'$[0].body'`).as('body'),
  /** The winning event. */
  event_id: sql<string>`${o.candidates}->>'$[0].event_id'`.as('event_id'),
  /** Of a payment method: its card, where the vendor's payments tell of it. */
  card: json<PaymentCardBody | null>(sql`${card.candidates}->'$[0].body'`).as('card'),
}
const isItsCard = and(
  eq(o.kind, 'payment_method'),
  eq(card.project_id, o.project_id),
  eq(card.kind, 'payment_card'),
  eq(card.vendor_id, o.vendor_id),
  eq(card.vendor, o.vendor),
)

/** An object by its vendor's id. `vendor`: which one, where two vendors use the same id. */
export type ObjectKey = { kind: ObjectKind; id: string; vendor?: string | undefined }

/** Reads an object. Where two vendors use its id, and none is named: the first by the vendor's name. */
export function findObject(db: Db, projectId: string, { kind, id, vendor }: ObjectKey) {
  const key = and(eq(o.project_id, projectId), eq(o.kind, kind), eq(o.vendor_id, id))
  return db
    .select(shown)
    .from(o)
    .leftJoin(card, isItsCard)
    .where(and(key, vendor === undefined ? undefined : eq(o.vendor, vendor)))
    .orderBy(o.vendor)
    .limit(1)
}
export type ObjectRow = Awaited<ReturnType<typeof findObject>>[number]

/** A row of a list; or, without a body, the row that the next page starts after: see {@link listObjects}. */
export type ListRow = {
  [Name in keyof ObjectRow]: Name extends keyof Position ? ObjectRow[Name] : ObjectRow[Name] | null
}

/**
 * Reads objects of a kind in the descending order of their ids. Where the page is not full after {@link MAX_SCANNED}
 * rows, it ends with a row without a body: the last one looked at, after which the next page starts.
 */
export function listObjects(
  db: Db,
  projectId: string,
  kind: ObjectKind,
  { filters, before, take }: { filters: ObjectFilters; before: Position | null; take: number },
): Query<ListRow[]> {
  const { index, of, rest } = planOf(projectId, kind, filters)
  const after = before ? sql`(${o.vendor_id}, ${o.vendor}) < (${before.vendor_id}, ${before.vendor})` : undefined
  const latest = sql`${desc(o.vendor_id)}, ${desc(o.vendor)}`
  const scan = (columns: SQL) =>
    sql`SELECT ${columns} FROM ${billingObjects} ${o} ${index} WHERE ${and(of, after)} ORDER BY ${latest}`
  const key = sql.join(
    Object.keys(shown).map((name) => (name === 'vendor' || name === 'vendor_id' ? sql`${o[name]}` : sql`NULL`)),
    sql`, `,
  )
  // SQLite runs the second part only where the first one has fewer rows than the limit.
  return raw(
    db,
    shown,
    (fields) => sql`
      SELECT * FROM (
        SELECT ${fields} FROM (${scan(sql`*`)} LIMIT ${MAX_SCANNED}) ${o} LEFT JOIN ${billingObjects} ${card} ON ${isItsCard}
        WHERE ${rest} ORDER BY ${latest} LIMIT ${take})
      UNION ALL
      SELECT * FROM (${scan(key)} LIMIT 1 OFFSET ${MAX_SCANNED - 1})
      LIMIT ${take}`,
  )
}

/**
 * The index that a list goes by, pinned, and what is left to ask of each row. Beside the primary key there is one
 * index, by customer: each more would be a row written for every new object.
 */
function planOf(projectId: string, kind: ObjectKind, { customer, subscription, status, vendor }: ObjectFilters) {
  const of = and(eq(o.project_id, projectId), eq(o.kind, kind))
  const rest = and(
    status === undefined ? ne(o.status, 'deleted') : eq(o.status, status),
    subscription === undefined ? undefined : eq(o.subscription, subscription),
    vendor === undefined ? undefined : eq(o.vendor, vendor),
  )
  return customer === undefined
    ? { index: sql`NOT INDEXED`, of, rest }
    : { index: sql`INDEXED BY billing_customer`, of: and(of, eq(o.customer, customer)), rest }
}
