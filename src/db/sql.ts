import { type Column, getTableColumns, type SQL, type Subquery, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { utf8 } from '../lib/crypto'
import { ID_TIME } from '../lib/ids'
import { MAX_LIST_BYTES } from './limits'

/** Columns by their bare names, as INSERT lists them and as the left side of SET has them. */
export function bare(...columns: Column[]): SQL {
  const names = columns.map(({ name }) => sql.identifier(name))
  return sql.join(names, sql`, `)
}

/** The columns of a table by name, without those that the database generates. */
export function writtenColumns(table: SQLiteTable): [name: string, column: Column][] {
  return Object.entries<Column>(getTableColumns(table)).filter(([, { generated }]) => generated === undefined)
}

/** In an upsert's SET: the value that the INSERT had for this column. */
export function excluded(column: Column): SQL {
  return sql`excluded.${bare(column)}`
}

/** JSON text, such as a part of a JSON column, read as the value it holds. */
export function json<T>(expression: SQL): SQL<T> {
  return expression.mapWith((text: string) => JSON.parse(text) as T) as SQL<T>
}

/** Our own words as literals, such as the statuses in an `IN`: a partial index is used only if they are literals. */
export function literals(words: readonly string[]): SQL {
  return sql.raw(words.map((word) => `'${word}'`).join(', '))
}

/** The time (ms) in an id, as an expression: see `idTime` in lib/ids.ts. */
export function timeIn(id: Column | SQL): SQL<number> {
  const { alphabet, from, chars } = ID_TIME
  const digits = Array.from({ length: chars }, (_, i) => {
    const digit = sql`instr(${literals([alphabet])}, substr(${id}, ${sql.raw(String(from + i))}, 1)) - 1`
    return sql`((${digit}) << ${sql.raw(String(5 * (chars - 1 - i)))})`
  })
  return sql`(${sql.join(digits, sql` + `)})`
}

/** The values of a list, for `inArray(column, valuesOf(list))`: one bound parameter, however long the list is. */
export function valuesOf(list: readonly (string | number)[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(list)}))`
}

/**
 * Values as JSON lists for `json_each`, each of at most {@link MAX_LIST_BYTES}: one as a rule. A value that has more is
 * alone in its list.
 */
export function jsonLists(values: readonly unknown[]): string[] {
  const lists: string[][] = []
  let left = 0
  for (const value of values) {
    const text = JSON.stringify(value)
    const bytes = utf8(text).byteLength + 1
    if (bytes > left) {
      lists.push([])
      left = MAX_LIST_BYTES - 1
    }
    lists.at(-1)?.push(text)
    left -= bytes
  }
  return lists.map((list) => `[${list.join()}]`)
}

/**
 * Whether a row still fits on a page that is cut by bytes, as an expression: the rows before it have fewer than these together. So
 * the last row of a page may go beyond, and every page has one.
 *
 * @param size bytes of a row, as an expression
 * @param order of the rows; left out, that of the rows as they are read
 */
export function fitsPage(size: SQL, bytes: number, order?: SQL): SQL {
  return sql`sum(${size}) OVER (${order && sql`ORDER BY ${order}`} ROWS UNBOUNDED PRECEDING) - (${size}) < ${bytes}`
}

/** The columns of a subquery, to select them together with others. */
export function columnsOf<S extends Subquery>(subquery: S): S['_']['selectedFields'] {
  const names = Object.keys(subquery._.selectedFields)
  return Object.fromEntries(names.map((name) => [name, (subquery as Record<string, unknown>)[name]])) as never
}

/** Whether a column begins with a text. It can use an index of the column, whose order is that of bytes. */
export function begins(column: Column | SQL, text: string): SQL {
  return sql`(${column} >= ${text} AND ${column} < ${`${text}\u{10ffff}`})`
}

/** A text as SQLite's `lower()` makes it, which knows the letters of ASCII only. */
export function lowered(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
