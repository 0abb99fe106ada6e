import { type Column, getTableName } from 'drizzle-orm'
import { ConstraintError } from './client'

/** Whether NOT NULL refused a write of this column: a fence was broken. */
export function refusedNull(error: unknown, column: Column): boolean {
  return isRefusedBy(error, `NOT NULL constraint failed: ${nameOf(column)}`)
}

/** Whether a unique key refused a write. @param columns all columns of the key, or the first ones */
export function refusedTwin(error: unknown, ...columns: Column[]): boolean {
  return isRefusedBy(error, `UNIQUE constraint failed: ${columns.map(nameOf).join(', ')}`)
}

function isRefusedBy(error: unknown, words: string): boolean {
  return error instanceof ConstraintError && error.message.includes(words)
}

/** A column as SQLite names it in an error. */
function nameOf(column: Column): string {
  return `${getTableName(column.table)}.${column.name}`
}
