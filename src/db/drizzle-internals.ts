import { Column, type DriverValueDecoder, fillPlaceholders, is, SQL } from 'drizzle-orm'
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import type { PreparedQuery } from 'drizzle-orm/session'

/*
 * What this project takes from drizzle-orm beyond its documentation, as it is in 0.45. If an upgrade changes it,
 * test/db/drizzle-internals.test.ts says what breaks.
 */

/**
 * Drizzle, once for each isolate, because it remembers the names of columns. It only builds statements: `run` and `batch`
 * of db/client.ts send them over the binding of their own piece of work. Relies on builders that ask nothing of the binding
 * but `prepare`, whose result they keep until they send it.
 */
export const builder: DrizzleD1Database = drizzle({
  prepare: () => null,
  batch: () => Promise.reject(new Error('send statements with run() or batch() of db/client.ts')),
} as unknown as D1Database)

/**
 * A prepared statement: its text and values, and how to read its rows. `prepare()` of a builder is documented; `getQuery`
 * and `mapResult` of what it gives are only declared.
 */
export type Prepared = PreparedQuery

/** The rows of a statement as its builder would give them. `true`: the result is one of `D1Database.batch`, rows by name. */
export function rowsOf(prepared: Prepared, result: D1Result): unknown {
  return prepared.mapResult(result, true)
}

/**
 * A prepared statement with values in place of its placeholders, encoded as their columns are. Relies on `fillPlaceholders`, which
 * is exported and not documented.
 */
export function filled(prepared: Prepared, values: Record<string, unknown>): Prepared {
  const { sql, params } = prepared.getQuery()
  const mapResult: Prepared['mapResult'] = (result, isFromBatch) => prepared.mapResult(result, isFromBatch)
  return { getQuery: () => ({ sql, params: fillPlaceholders(params, values) }), mapResult } as Prepared
}

/** A prepared statement of which `notice` learns the rows when they are read. */
export function overheard(prepared: Prepared, notice: (rows: unknown) => void): Prepared {
  const mapResult: Prepared['mapResult'] = (result, isFromBatch) => {
    const rows = prepared.mapResult(result, isFromBatch)
    notice(rows)
    return rows
  }
  return { getQuery: () => prepared.getQuery(), mapResult } as Prepared
}

/**
 * Refuses a statement that selects two columns of one name: D1 gives rows by name, so the first would be lost without a
 * word. Relies on `fields`, what a prepared statement selects. Types leave it out (`@internal`).
 */
export function refuseTwins(prepared: Prepared): void {
  const { fields = [] } = prepared as { fields?: { field: unknown }[] }
  const names = fields.map(({ field }) => (is(field, Column) ? field.name : is(field, SQL.Aliased) && field.fieldAlias))
  const twin = names.find((name, i) => name && names.indexOf(name) !== i)
  if (twin) throw new Error(`select one of the columns "${twin}" under another name: sql\`…\`.as(…)`)
}

/**
 * A value as a builder decodes it: by the column's type, or by what the expression was given with `mapWith`. Relies on
 * `decoder`, where `mapWith` keeps it. Types leave it out (`@internal`).
 */
export function decoded(source: Column | SQL, value: unknown): unknown {
  if (value === null) return null
  if (is(source, Column)) return source.mapFromDriverValue(value)
  return (source as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder.mapFromDriverValue(value)
}
