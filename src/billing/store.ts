import { and, type Column, eq, getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { ConstraintError, type Db, type Query, raw, run } from '../db/client'
import { excluded, json, jsonLists } from '../db/sql'
import type { Kind } from '../lib/billing-kinds'
import type { PastDue } from './past-due'
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
  past_due: PastDue | null
  /** The ids of the events that change the row; none if it stays as it is. */
  by: string[]
}

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
 * Reads the rows of these objects, by {@link nameOf}. An object without a row is not in the map.
 *
 * @param most bytes that the rows may have together
 * @returns null if they have more
 */
export async function readObjects(
  db: Db,
  keys: readonly ObjectKey[],
  most: number,
): Promise<Map<string, Projection> | null> {
  const distinct = new Map(keys.map((key) => [nameOf(key), key]))
  const list = JSON.stringify(
    [...distinct.values()].map((key) => [key.project_id, key.kind, key.vendor_id, key.vendor]),
  )
  const { project_id, kind, vendor_id, vendor, version, customer, ambiguous, past_due_period, past_due_since } = o
  const running = sql`sum(octet_length(${o.candidates})) OVER (ROWS UNBOUNDED PRECEDING)`
  const candidates = json<Candidate[] | null>(sql`CASE WHEN ${running} <= ${most} THEN ${o.candidates} END`)
  const columns = {
    project_id,
    kind,
    vendor_id,
    vendor,
    version,
    customer,
    candidates,
    ambiguous,
    past_due_period,
    past_due_since,
  }
  const rows = await run(
    db,
    raw(
      db,
      columns,
      (fields) => sql`SELECT ${fields} FROM json_each(${list}) j CROSS JOIN ${billingObjects} ${o}
        ON ${project_id} = j.value->>0 AND ${kind} = j.value->>1 AND ${vendor_id} = j.value->>2 AND ${vendor} = j.value->>3`,
    ),
  )
  const read = new Map<string, Projection>()
  for (const {
    version,
    customer,
    candidates,
    ambiguous,
    past_due_period: period,
    past_due_since: since,
    ...key
  } of rows) {
    if (candidates === null) return null
    const past_due = period === null || since === null ? null : { period, since }
    read.set(nameOf(key), { key, version, customer, candidates, ambiguous, past_due, by: [] })
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
 */
export function writeObjects(db: Db, projections: readonly Projection[], held: Held): Record<string, Query> {
  const moved = projections.filter(({ customer, candidates }) => customer !== customerIn(candidates))
  const unmoved = projections.filter((projection) => !moved.includes(projection))
  return {
    ...upserts(db, { name: 'moved', projections: moved }, held, ['customer', ...STATE]),
    ...upserts(db, { name: 'unmoved', projections: unmoved }, held, STATE),
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
] as const

type Row = typeof billingObjects.$inferInsert
/** Without what the database generates. */
const COLUMNS = Object.entries(getTableColumns(billingObjects)).filter(([, { generated }]) => generated === undefined)

/** A statement for as many rows as one list takes. */
function upserts(
  db: Db,
  { name, projections }: { name: string; projections: readonly Projection[] },
  held: Held,
  set: readonly (keyof Row)[],
): Record<string, Query> {
  const rows = projections.map((projection) => ({ row: encoded(rowOf(projection)), by: projection.by }))
  return Object.fromEntries(jsonLists(rows).map((list, i) => [`${name}${i}`, upsert(db, list, held, set)]))
}

function upsert(db: Db, list: string, held: Held, set: readonly (keyof Row)[]): Query {
  const values = COLUMNS.map(([name]) => sql.raw(`projected.value->>'$.row.${name}'`))
  const { project_id, kind, vendor_id, vendor, version } = billingObjects
  const next = excluded(version)
  return db
    .insert(billingObjects)
    .select(
      sql`SELECT ${sql.join(values, sql`, `)} FROM json_each(${list}) projected
        WHERE ${held(sql`projected.value->>'$.row.project_id'`, sql`projected.value->'by'`)}`,
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

function rowOf({ key, version, candidates, ambiguous, past_due }: Projection): Row {
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

/** Whether a batch failed because a row has changed since it was read: read it again and decide again. */
export function isStale(error: unknown): boolean {
  return error instanceof ConstraintError && error.message.includes(VERSION_REFUSED)
}

/** What health counts of objects: the index of each, and its condition. */
const MARKS = {
  ambiguous: { index: sql`billing_ambiguous`, is: sql`${billingObjects.ambiguous} = 1` },
  incomplete: { index: sql`billing_incomplete`, is: sql`${billingObjects.incomplete} = 1` },
  unknown: {
    index: sql`billing_unknown`,
    is: sql`${billingObjects.kind} = 'subscription' AND ${billingObjects.status} = 'unknown'`,
  },
}

/** Counts the project's objects that are ambiguous or incomplete, or its subscriptions of an unknown status, up to a bound. */
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
