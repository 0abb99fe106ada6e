import { getTableColumns, is, SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './client'

/** A row's values, any of which may be an expression. */
type Row<T extends SQLiteTable> = { [K in keyof T['$inferInsert']]: T['$inferInsert'][K] | SQL }

/** `INSERT … SELECT … WHERE`: inserts one row if the condition holds, in one statement, so that no race is possible. */
export function insertWhere<T extends SQLiteTable>(db: Database, table: T, row: Row<T>, condition: SQL | undefined) {
  const given: Record<string, unknown> = row
  const fields = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = (given[name] === undefined ? column.default : given[name]) ?? null
    const expression = is(value, SQL) || value === null ? sql`${value}` : sql`${sql.param(value, column)}`
    return [name, expression.as(column.name)]
  })
  // In the order of the table's columns, which is the order that Drizzle names them in.
  return db.insert(table).select(db.select(Object.fromEntries(fields)).from(sql`(SELECT 1)`).where(condition))
}
