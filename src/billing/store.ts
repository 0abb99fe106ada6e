import { and, type Column, eq, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { ConstraintError, type Db, type Query, raw } from '../db/client'
import { excluded, json, jsonLists } from '../db/sql'
import type { Kind } from '../lib/billing-kinds'
import type { Candidate } from './reduce'
import { billingObjects } from './schema'

export type ObjectKey = { project_id: string; kind: Kind; vendor_id: string; vendor: string }

/** An object's row as it is to be written. */
export type Projection = {
  key: ObjectKey
  /** The version that was read; 0 where there was no row. */
  version: number
  /** The customer that was read; undefined if there was no row. */
  customer: string | null | undefined
  candidates: Candidate[]
  ambiguous: boolean
  /** The ids of the events that change the row; none if it stays as it is. */
  by: string[]
  /** Customers who may not have been erased when the row is written, because it then has what is about them. */
  about: string[]
}

/** A vendor's customer in a project. */
export type CustomerOf = { project_id: string; vendor: string; customer: string }

/** Reads which of these customers were erased: given by the caller, because billing state knows no consumers. */
export type FindErased = (customers: readonly CustomerOf[]) => Query<CustomerOf[]>
/** The same, as a condition over the names of a customer. */
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
export function nameOf({ project_id, kind, vendor_id, vendor }: ObjectKey): string {
  return [project_id, kind, vendor, vendor_id].join(' ')
}

const o = alias(billingObjects, 'o')

/**
 * Reads the rows of these objects: see {@link projectionsOf}.
 *
 * @param most bytes that the rows may have together
 */
export function selectObjects(db: Db, keys: readonly ObjectKey[], most: number) {
  const distinct = new Map(keys.map((key) => [nameOf(key), key]))
  const list = JSON.stringify(
    [...distinct.values()].map((key) => [key.project_id, key.kind, key.vendor_id, key.vendor]),
  )
  const { project_id, kind, vendor_id, vendor, version, customer, ambiguous } = o
  const running = sql`sum(octet_length(${o.candidates})) OVER (ROWS UNBOUNDED PRECEDING)`
  const candidates = json<Candidate[] | null>(sql`CASE WHEN ${running} <= ${most} THEN ${o.candidates} END`)
  const columns = { project_id, kind, vendor_id, vendor, version, customer, candidates, ambiguous }
  return raw(
    db,
    columns,
    (fields) => sql`SELECT ${fields} FROM json_each(${list}) j CROSS JOIN ${billingObjects} ${o}
      ON ${project_id} = j.value->>0 AND ${kind} = j.value->>1 AND ${vendor_id} = j.value->>2 AND ${vendor} = j.value->>3`,
  )
}

/**
 * The rows that {@link selectObjects} read, by {@link nameOf}. An object without a row is not in the map.
 *
 * @returns null if they have more bytes than was asked for
 */
export function projectionsOf(rows: ReturnType<typeof selectObjects>['_']['result']): Map<string, Projection> | null {
  const read = new Map<string, Projection>()
  for (const { version, customer, candidates, ambiguous, ...key } of rows) {
    if (candidates === null) return null
    read.set(nameOf(key), { key, version, customer, candidates, ambiguous, by: [], about: [] })
  }
  return read
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
const STATE = ['subscription', 'status', 'ambiguous', 'incomplete', 'candidates'] as const

type Row = typeof billingObjects.$inferInsert
/** Without what the database generates. */
const COLUMNS = Object.entries(getTableColumns(billingObjects)).filter(([, { generated }]) => generated === undefined)

/** A statement for as many rows as one list takes. */
function upserts(
  db: Db,
  { name, projections }: { name: string; projections: readonly Projection[] },
  conditions: Conditions,
  set: readonly (keyof Row)[],
): Record<string, Query> {
  const rows = projections.map(({ by, about, ...rest }) => ({ row: encoded(rowOf(rest)), by, about }))
  return Object.fromEntries(jsonLists(rows).map((list, i) => [`${name}${i}`, upsert(db, list, conditions, set)]))
}

type Conditions = { held: Held; isErased: IsErased }

function upsert(db: Db, list: string, { held, isErased }: Conditions, set: readonly (keyof Row)[]): Query {
  const fieldOf = (name: string) => sql.raw(`projected.value->>'$.row.${name}'`)
  const { project_id, kind, vendor_id, vendor, version } = billingObjects
  const erased = sql`EXISTS (SELECT 1 FROM json_each(projected.value->'about') a
    WHERE ${isErased(fieldOf('project_id'), { vendor: fieldOf('vendor'), customer: sql`a.value` })})`
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

function rowOf({ key, version, candidates, ambiguous }: Omit<Projection, 'by' | 'about'>): Row {
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
  }
}

function customerIn(candidates: readonly Candidate[]): string | null {
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

/** Counts the project's objects that are ambiguous, or incomplete, up to a bound. */
export function countMarked(db: Db, projectId: string, mark: 'ambiguous' | 'incomplete', bound: number) {
  const marked = and(eq(billingObjects.project_id, projectId), sql`${billingObjects[mark]} = 1`)
  const index = mark === 'ambiguous' ? sql`billing_ambiguous` : sql`billing_incomplete`
  return raw(
    db,
    { n: sql<number>`count(*)` },
    (fields) => sql`SELECT ${fields} FROM (
      SELECT 1 FROM ${billingObjects} INDEXED BY ${index} WHERE ${marked} LIMIT ${bound})`,
  )
}
