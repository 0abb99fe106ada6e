import { type Column, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Database, type Query, rawWrite } from './client'
import { bare } from './sql'

/** A row's columns, each with the expression that fills it. */
type Row<T extends SQLiteTable> = { [K in keyof T['$inferInsert']]: Column | SQL }

/**
 * `INSERT INTO table (…) SELECT … FROM …`: a row for each one that `from` yields, set-based, in one statement.
 *
 * @param from everything after the selected expressions: FROM, WHERE, GROUP BY, ON CONFLICT. SQLite needs a WHERE
 *   before ON CONFLICT.
 */
export function insertFrom<T extends SQLiteTable>(db: Database, table: T, row: Row<T>, from: SQL): Query<void> {
  const known = getTableColumns(table) as Record<string, Column>
  const given = Object.entries<Column | SQL>(row)
  const columns = bare(...given.map(([name]) => known[name] as Column))
  const values = sql.join(
    given.map(([, value]) => sql`${value}`),
    sql`, `,
  )
  return rawWrite(db, sql`INSERT INTO ${table} (${columns}) SELECT ${values} ${from}`)
}
