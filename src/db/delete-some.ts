import { type Column, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './client'

/**
 * Deletes at most `most` of the rows that match `where`, and returns a row for each.
 *
 * @param key the columns of the primary key
 */
export function deleteSome(
  db: Database,
  table: SQLiteTable,
  { key, where, most }: { key: readonly Column[]; where: SQL; most: number },
) {
  const columns = sql.join([...key], sql`, `)
  return db
    .delete(table)
    .where(sql`(${columns}) IN (SELECT ${columns} FROM ${table} WHERE ${where} LIMIT ${most})`)
    .returning({ one: sql`1`.as('one') })
}
