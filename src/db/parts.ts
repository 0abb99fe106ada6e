import { type Column, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db, Query } from './client'

/**
 * Rows that a deleted project leaves in one table, which the cron deletes in steps: the table, its key, its rows of a project, and
 * how many of them one step deletes. `owned` deletes what goes with `some` of them, in the same transaction.
 */
export type Part = {
  table: SQLiteTable
  key: readonly Column[]
  rows: (projectId: string) => SQL
  most: number
  owned?: (db: Db, some: (fields: SQL) => SQL) => Record<string, Query>
}

/** The tables of a room with rows of projects, by name, in the order in which they are emptied. */
export type Parts = Record<string, Part>

/** All rows that a project has in a table. */
export function partOf(table: SQLiteTable & { project_id: Column }, key: readonly Column[], most: number): Part {
  return { table, key, rows: (projectId) => sql`FROM ${table} WHERE ${table.project_id} = ${projectId}`, most }
}
