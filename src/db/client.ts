import { type Column, is, type Placeholder, SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types'
import journal from '../../drizzle/meta/_journal.json'
import { builder, decoded, filled, overheard, type Prepared, refuseTwins, rowsOf } from './drizzle-internals'
import { type Meter, type MeteredD1, metered, noCost, type Sending } from './metered'

export { ConstraintError } from './answered'
export { type Meter, sumOf } from './metered'

/**
 * Drizzle over the metered binding `d1`. `meter` counts what this database was asked for one piece of work; `binding` is
 * the same object for all of them.
 */
export type Database = DrizzleD1Database & { meter: Meter; d1: MeteredD1; binding: D1Database }

declare const holds: unique symbol
/** A store: the database of the projects that were created in it, with everything that belongs to them. */
export type Db = Database & { readonly [holds]: 'projects' }
/**
 * The directory: the database of people and of the list of projects. Store 0 is the same database, but has another
 * type.
 */
export type Directory = Database & { readonly [holds]: 'people' }

/** What selects: a store, or a store with other rows in place of a table's. */
export type Reader = Pick<Db, 'select'>

/** A statement that has not been sent: one of Drizzle's builders, or what {@link raw} makes. */
export type Query<T = unknown> = { readonly _: { readonly result: T }; prepare(): Prepared }
export type Queries = Record<string, Query>

/** What each statement of a batch gives, by its name. A statement that may be missing gives what may be missing. */
export type Results<Q extends Queries> = { [Name in keyof Q]: NonNullable<Q[Name]>['_']['result'] }

/** Sends several statements in one round trip: {@link batch}, or a route's read with the caller's credential. */
export type Send = <Q extends Queries>(queries: Q) => Promise<Results<Q>>

/** Columns, and `sql<T>` expressions, by the name they are read under. */
export type Fields = Record<string, Column | SQL | SQL.Aliased>

/**
 * Opens the database for one request, batch or cron run.
 *
 * The plain binding reads the primary, which is what makes a revocation hold from the moment it is answered: never pass
 * a session here (`withSession`).
 */
export function openDb<D extends Database>(binding: D1Database): D {
  const meter = noCost()
  const own = { meter, d1: metered(binding, meter), binding }
  return Object.assign(Object.create(builder) as DrizzleD1Database, own) as Database as D
}

/**
 * Sends one statement: one round trip.
 *
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time; `database_full`
 */
export async function run<T>(db: Database, query: Query<T>): Promise<T> {
  const prepared = prepare(query)
  const result = await bound(db, prepared).all<Record<string, unknown>>()
  return rowsOf(prepared, result) as T
}

/**
 * Sends several statements as one transaction and one round trip: if one fails, none has happened. They run in the
 * order in which they are named.
 *
 * It stands in for Drizzle's `db.batch`, whose results have positions instead of names, and which throws on raw `sql`
 * with values (drizzle-orm#2277).
 *
 * @param how `idempotent`: the batch may be sent twice, which is done after a transient error of D1. Batches that only
 *   read need not say so.
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time; `database_full`
 */
export async function batch<Q extends Queries>(db: Database, queries: Q, how: Sending = {}): Promise<Results<Q>> {
  refuseOverwritten(queries)
  const named = Object.entries(queries).map(([name, query]) => ({ name, prepared: prepare(query) }))
  const statements = named.map(({ prepared }) => bound(db, prepared))
  const results = await db.d1.batch<Record<string, unknown>>(statements, how)
  const mapped = named.map(({ name, prepared }, i) => [name, rowsOf(prepared, results[i] as D1Result)])
  return Object.fromEntries(mapped) as Results<Q>
}

/**
 * Marks statements that always have the same names, because in one batch the second set would overwrite the first.
 * {@link batch} refuses queries with more than one mark. The mark is a symbol, which spreading copies.
 */
export function onceInABatch<Q extends Queries>(queries: Q): Q {
  return { ...queries, [Symbol('once in a batch')]: true }
}

function refuseOverwritten(queries: Queries): void {
  if (Object.getOwnPropertySymbols(queries).length < 2) return
  throw new Error('a statement of this batch has overwritten another with the same name: send them in two batches')
}

/** The newest migration, by the name under which wrangler records it in `d1_migrations`. */
export const NEWEST_MIGRATION = `${journal.entries.at(-1)?.tag}.sql`

/**
 * A statement in SQL, for what builders cannot say. Its rows have these fields, each read as a builder would read it
 * (JSON parsed, booleans as such). The statement names them once, where it is handed them: after SELECT or RETURNING.
 *
 * ```ts
 * raw(db, { id: events.id }, (fields) => sql`SELECT ${fields} FROM ${events} INDEXED BY events_open WHERE …`)
 * ```
 */
export function raw<F extends Fields>(
  db: Database,
  fields: F,
  statement: (fields: SQL) => SQL,
): Query<SelectResultFields<F>[]> {
  const list = Object.entries(fields).map(([name, field]) => sql`${expression(field)} AS ${sql.identifier(name)}`)
  const text = statement(sql.join(list, sql`, `))
  const read = (row: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, decoded(expression(field), row[name])]))
  return queryOf(db, text, ({ results }) => results.map(read))
}

/**
 * In {@link prepared}: stands for a value that each call gives. Drizzle binds it as it is, so it is only for what a column stores
 * as it is. `sql.param(held, column)` encodes it for any other column.
 */
export type Held<T extends string | number> = Placeholder & { readonly _holds?: T }
type Holders = Record<string, Held<string> | Held<number> | null | undefined>
/** What a call gives for placeholders. */
type Given<H> = { [Name in keyof H]: H[Name] extends infer One ? (One extends Held<infer T> ? T : One) : never }

/**
 * A statement that is built once in each isolate. To build one takes longer than anything else of ours in a request, so the
 * statements of the hottest paths are made with this: see docs/contribute/database.md.
 *
 * ```ts
 * const byId = prepared((db: Db, { id }: { id: Held<string> }) => db.select().from(things).where(eq(things.id, id)))
 * await run(db, byId(db, { id: 'a' }))
 * ```
 *
 * @param build is called once for each set of values that are not null or undefined, with a placeholder for each of these
 */
export function prepared<D extends Database, H extends Holders, T>(
  build: (db: D, held: H) => Query<T>,
): (db: D, given: Given<H>) => Query<T> {
  const built = new Map<string, Prepared>()
  const buildFor = (values: [string, unknown][]) =>
    build(
      builder as Database as D,
      Object.fromEntries(values.map(([name, value]) => [name, isNone(value) ? value : sql.placeholder(name)])) as H,
    )
  return (_, given) => {
    const values = Object.entries(given)
    const shape = values.map(([name, value]) => (isNone(value) ? `${name}:${value}` : name)).join()
    const statement = built.get(shape) ?? prepare(buildFor(values))
    built.set(shape, statement)
    const own = filled(statement, given)
    return { prepare: () => own } as unknown as Query<T>
  }
}

const isNone = (value: unknown): value is null | undefined => value === null || value === undefined

/** A statement of which `notice` learns the result, once the batch that it is in has been committed. */
export function noticed<T>(query: Query<T>, notice: (result: T) => void): Query<T> {
  return { prepare: () => overheard(query.prepare(), (rows) => notice(rows as T)) } as unknown as Query<T>
}

/** A statement in SQL that returns nothing. */
export function rawWrite(db: Database, statement: SQL): Query<void> {
  return queryOf(db, statement, () => undefined)
}

function queryOf<T>(
  db: Database,
  text: SQL,
  mapResult: (result: D1Result<Record<string, unknown>>) => unknown,
): Query<T> {
  const prepared = { getQuery: () => db.all(text).getQuery(), mapResult }
  return { prepare: () => prepared } as unknown as Query<T>
}

function prepare(query: Query): Prepared {
  const prepared = query.prepare()
  refuseTwins(prepared)
  return prepared
}

function bound(db: Database, prepared: Prepared): D1PreparedStatement {
  const { sql: text, params } = prepared.getQuery()
  return db.d1.prepare(text).bind(...params)
}

const expression = (field: Fields[string]) => (is(field, SQL.Aliased) ? field.sql : field)
