import { is, SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './client'
import { writtenColumns } from './sql'

/** A row's values, any of which may be an expression. */
type Row<T extends SQLiteTable> = { [K in keyof T['$inferInsert']]: T['$inferInsert'][K] | SQL }

/** `INSERT … SELECT … WHERE`: inserts one row if the condition holds, in one statement, so that no race is possible. */
export function insertWhere<T extends SQLiteTable>(db: Database, table: T, row: Row<T>, condition: SQL | undefined) {
  const given: Record<string, unknown> = row
  const fields = writtenColumns(table).map(([name, column]) => {
    const value = (given[name] === undefined ? column.default : given[name]) ?? null
    const expression = is(value, SQL) || value === null ? sql`${value}` : sql`${sql.param(value, column)}`
    return [name, expression.as(column.name)]
  })
  // In the order of the table's columns, which is the order that Drizzle names them in. As SQL, because Drizzle compares a builder's
  // fields with all columns, generated ones too.
  const selected = db.select(Object.fromEntries(fields)).from(sql`(SELECT 1)`).where(condition)
  return db.insert(table).select(selected.getSQL())
}
