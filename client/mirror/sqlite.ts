import { DatabaseSync } from 'node:sqlite'
import type { Database, Row } from './database.ts'

/** How long to wait (ms) for a program that has locked the file. */
const BUSY_TIMEOUT = 10_000
/** SQLITE_BUSY and SQLITE_LOCKED: https://www.sqlite.org/rescode.html */
const PASSING = [5, 6]

export async function openSqlite(file: string): Promise<Database> {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT })
  // Readers go on reading what was there before while the mirror writes.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  return {
    jsonType: 'TEXT',
    findTable: "SELECT 1 AS found FROM sqlite_master WHERE type IN ('table', 'view') AND name = $1",
    async transaction(work) {
      database.exec('BEGIN IMMEDIATE')
      try {
        const result = await work(
          async (statement, values = []) =>
            database.prepare(statement.replaceAll(/\$(\d+)/g, '?$1')).all(...values) as Row[],
        )
        database.exec('COMMIT')
        return result
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
    isPassing: (error) => PASSING.includes((error as { errcode?: number }).errcode ?? 0),
    close: async () => database.close(),
  }
}
