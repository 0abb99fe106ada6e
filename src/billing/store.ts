import { and, type Column, eq, getTableName, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { StoredChange } from '../changes/schema'
import { ConstraintError, type Db, type Query, raw } from '../db/client'
import { excluded, json, jsonLists, writtenColumns } from '../db/sql'
import type { Kind } from '../lib/billing-kinds'
import { keysOf } from '../lib/names'
import { PARTS } from '../vendors/purchase'
import type { PastDue } from './past-due'
import type { Candidate } from './reduce'
import { billingObjects } from './schema'

export type StoredObjectKey = { project_id: string; kind: Kind; vendor_id: string; vendor: string }

/** An object's row as it is to be written. */
export type Projection = {
  key: StoredObjectKey
  /** The version that was read; 0 where there was no row. */
  version: number
  /** The customer that was read; undefined if there was no row. */
  customer: string | null | undefined
  candidates: Candidate[]
  ambiguous: boolean
  past_due: PastDue | null
  /** The ids of the events that change the row; none if it stays as it is. */
  by: string[]
  /** What the feed of changes says of it; none if nothing that is shown has changed. */
  changes: StoredChange[]
  /** The customer that the row is about; null if there is none. If the customer was erased, the row is not written. */
  about: string | null
}

/** An object that is read, and the customer whose event it is read for. */
export type WantedObject = StoredObjectKey & { about: string | null }

/**
 * A condition given by the caller, because billing state knows no consumers: that a customer was erased.
 */
export type IsErased = (projectId: SQL, customer: { vendor: SQL; customer: SQL }) => SQL

/**
 * A condition given by the caller: that the worker still holds at least one of these events of a project. The statement
 * of the billing state therefore does not know the table of events.
 *
 * @param projectId an expression of the project's id
 * @param eventIds an expression of a JSON array of event ids, for `json_each`
 */
export type Held = (projectId: SQL, eventIds: SQL) => SQL

/** An object's key as one string. */
export function objectName({ project_id, kind, vendor_id, vendor }: StoredObjectKey): string {
  return [project_id, kind, vendor, vendor_id].join(' ')
}

const o = alias(billingObjects, 'o')
const h = alias(billingObjects, 'h')

/**
 * Reads the rows of these objects, and whether the customers were erased: see {@link projectionsOf}. Of a payment that paid an invoice, the
 * purchase of the invoice is read too.
 *
 * @param most bytes that the rows may have together
 */
export function selectObjects(db: Db, wanted: readonly WantedObject[], most: number, isErased: IsErased) {
  const distinct = new Map(wanted.map((one) => [`${objectName(one)} ${one.about}`, one]))
  const list = JSON.stringify(
    [...distinct.values()].map(({ project_id, kind, vendor_id, vendor, about }) => [
      project_id,
      kind,
      vendor_id,
      vendor,
      about,
    ]),
  )
  const { version, customer, ambiguous, past_due_period, past_due_since } = o
  const project_id = sql<string>`j.project_id`
  const kind = sql<Kind>`j.kind`
  const vendor_id = sql<string>`j.vendor_id`
  const vendor = sql<string>`j.vendor`
  const about = sql<string | null>`j.about`
  const running = sql`sum(octet_length(${o.candidates})) OVER (ROWS UNBOUNDED PRECEDING)`
  const candidates = json<Candidate[] | null>(sql`CASE WHEN ${running} <= ${most} THEN ${o.candidates} END`)
  const erased = sql<boolean>`${isErased(project_id, { vendor, customer: about })}`.mapWith(Boolean)
  const key = { project_id, kind, vendor_id, vendor }
  const row = { version, customer, candidates, ambiguous, past_due_period, past_due_since }
  const asked = sql`SELECT value->>0 AS project_id, value->>1 AS kind, value->>2 AS vendor_id, value->>3 AS vendor, value->>4 AS about
    FROM json_each(${list})`
  // A row for each payment has at most one part that names an invoice.
  const homes = sql`SELECT a.project_id, a.kind, p.value->>'$.body.to', a.vendor, a.about FROM (${asked}) a
    CROSS JOIN ${billingObjects} ${h} ON ${h.project_id} = a.project_id AND ${h.kind} = a.kind AND ${h.vendor_id} = a.vendor_id
      AND ${h.vendor} = a.vendor
    CROSS JOIN json_each(${h.candidates}) p ON p.value->>'part' = ${PARTS.link} AND p.value->'body' <> 'null'
    WHERE a.kind = 'purchase'`
  const all = [...distinct.values()].some((one) => one.kind === 'purchase') ? sql`${asked} UNION ${homes}` : asked
  return raw(
    db,
    { ...key, about, ...row, erased },
    (fields) => sql`SELECT ${fields} FROM (${all}) j LEFT JOIN ${billingObjects} ${o}
      ON ${o.project_id} = ${project_id} AND ${o.kind} = ${kind} AND ${o.vendor_id} = ${vendor_id} AND ${o.vendor} = ${vendor}`,
  )
}

/**
 * What {@link selectObjects} read: the rows by {@link objectName}, without objects that have none; the customers that were erased,
 * by {@link customerName}.
 *
 * @returns null if the rows have more bytes than was asked for
 */
export function projectionsOf(read: ReturnType<typeof selectObjects>['_']['result']) {
  const rows = new Map<string, Projection>()
  const erased = new Set<string>()
  for (const {
    version,
    customer,
    candidates,
    ambiguous,
    past_due_period: period,
    past_due_since: since,
    erased: isErased,
    about,
    ...key
  } of read) {
    if (isErased) erased.add(customerName({ ...key, about }))
    if (version === null) continue // the object has no row
    if (candidates === null) return null
    const past_due = period === null || since === null ? null : { period, since }
    rows.set(objectName(key), {
      key,
      version,
      customer,
      candidates,
      ambiguous,
      past_due,
      by: [],
      changes: [],
      about: null,
    })
  }
  return { rows, erased }
}

/** A customer as one string. */
export function customerName({ project_id, vendor, about }: Omit<WantedObject, 'kind' | 'vendor_id'>): string {
  return [project_id, vendor, about].join(' ')
}

/**
 * The statements that write projections, by name, for the batch that finishes their events. The whole batch fails where
 * another worker has changed a row since it was read: see {@link isStale}.
 *
 * Rows whose customer stays the same have a statement of their own: SQLite writes the index of every column that is
 * set, even where the value does not change.
 *
 * @param held a row is written only if the worker still holds one of the events that change it
 * @param isErased whether a customer was erased. The batch then fails like one over a row that has changed.
 */
export function writeObjects(
  db: Db,
  projections: readonly Projection[],
  held: Held,
  isErased: IsErased,
): Record<string, Query> {
  const moved = projections.filter(({ customer, candidates }) => customer !== customerIn(candidates))
  const unmoved = projections.filter((projection) => !moved.includes(projection))
  return {
    ...upserts(db, { name: 'moved', projections: moved }, { held, isErased }, ['customer', ...STATE]),
    ...upserts(db, { name: 'unmoved', projections: unmoved }, { held, isErased }, STATE),
  }
}

/** The columns that an event of an object sets. */
const STATE = [
  'subscription',
  'status',
  'ambiguous',
  'incomplete',
  'candidates',
  'past_due_period',
  'past_due_since',
  'name_keys',
] as const

type Row = typeof billingObjects.$inferInsert
const COLUMNS = writtenColumns(billingObjects)

/** A statement for as many rows as one list takes. */
function upserts(
  db: Db,
  { name, projections }: { name: string; projections: readonly Projection[] },
  conditions: Conditions,
  set: readonly (keyof Row)[],
): Record<string, Query> {
  const rows = projections.map(({ by, about, changes: _, ...rest }) => ({ row: encoded(rowOf(rest)), by, about }))
  return Object.fromEntries(jsonLists(rows).map((list, i) => [`${name}${i}`, upsert(db, list, conditions, set)]))
}

type Conditions = { held: Held; isErased: IsErased }

function upsert(db: Db, list: string, { held, isErased }: Conditions, set: readonly (keyof Row)[]): Query {
  const fieldOf = (name: string) => sql.raw(`projected.value->>'$.row.${name}'`)
  const { project_id, kind, vendor_id, vendor, version } = billingObjects
  const about = sql`projected.value->>'about'`
  const erased = isErased(fieldOf('project_id'), { vendor: fieldOf('vendor'), customer: about })
  // NULL, which the column refuses, if what is about an erased customer would be written.
  const values = COLUMNS.map(([name]) =>
    name === version.name ? sql`CASE WHEN NOT ${erased} THEN ${fieldOf(name)} END` : fieldOf(name),
  )
  const next = excluded(version)
  return db
    .insert(billingObjects)
    .select(
      sql`SELECT ${sql.join(values, sql`, `)} FROM json_each(${list}) projected
        WHERE ${held(fieldOf('project_id'), sql`projected.value->'by'`)}`,
    )
    .onConflictDoUpdate({
      target: [project_id, kind, vendor_id, vendor],
      set: {
        ...Object.fromEntries(set.map((name) => [name, excluded(billingObjects[name])])),
        // NULL, which the column refuses, where the row is no longer the one that was read.
        version: sql`CASE WHEN ${version} = ${next} - 1 THEN ${next} END`,
      },
    })
}

function rowOf({ key, version, candidates, ambiguous, past_due }: Omit<Projection, 'by' | 'about' | 'changes'>): Row {
  const winner = candidates[0]
  return {
    ...key,
    customer: customerIn(candidates),
    subscription: (winner?.body?.subscription as string | undefined) ?? null,
    status: winner?.body?.status ?? 'unknown',
    ambiguous,
    incomplete: winner?.incomplete === true,
    version: version + 1,
    candidates,
    past_due_period: past_due?.period ?? null,
    past_due_since: past_due?.since ?? null,
    name_keys: key.kind === 'customer' ? keysOf((winner?.body?.name as string | null | undefined) ?? null) : null,
  }
}

/** The customer that a row belongs to. */
export function customerIn(candidates: readonly Candidate[]): string | null {
  return candidates[0]?.body?.customer ?? null
}

/** A row with each value as its column stores it. JSON stays as it is: `->>` makes it the text that is stored. */
function encoded(row: Record<string, unknown>): Record<string, unknown> {
  const stored = (column: Column, value: unknown) =>
    value === null || column.dataType === 'json' ? value : column.mapToDriverValue(value)
  return Object.fromEntries(COLUMNS.map(([name, column]) => [name, stored(column, row[name])]))
}

const VERSION_REFUSED = `NOT NULL constraint failed: ${getTableName(billingObjects)}.${billingObjects.version.name}`

/** Whether a batch failed because a row has changed, or a customer was erased, since it was read: read it again and decide again. */
export function isStale(error: unknown): boolean {
  return error instanceof ConstraintError && error.message.includes(VERSION_REFUSED)
}

/** Whether an object is a purchase of which nothing says what was bought: the condition of the index that finds them. */
export const areItemsMissing = sql`${billingObjects.kind} = 'purchase' AND ${billingObjects.candidates} ->> '$[0].body.items_missing' = 1`

/** What health counts of objects: the index of each, and its condition. */
const MARKS = {
  ambiguous: { index: sql`billing_ambiguous`, is: sql`${billingObjects.ambiguous} = 1` },
  incomplete: { index: sql`billing_incomplete`, is: sql`${billingObjects.incomplete} = 1` },
  items_missing: { index: sql`billing_items_missing`, is: areItemsMissing },
  unknown: {
    index: sql`billing_unknown`,
    is: sql`${billingObjects.kind} = 'subscription' AND ${billingObjects.status} = 'unknown'`,
  },
}

/** Counts the project's objects with a mark, up to a bound. */
export function countMarked(db: Db, projectId: string, mark: keyof typeof MARKS, bound: number) {
  const { index, is } = MARKS[mark]
  const marked = and(eq(billingObjects.project_id, projectId), is)
  return raw(
    db,
    { n: sql<number>`count(*)` },
    (fields) => sql`SELECT ${fields} FROM (
      SELECT 1 FROM ${billingObjects} INDEXED BY ${index} WHERE ${marked} LIMIT ${bound})`,
  )
}
