/* How far a mirror has come. It is in the database, and moves in the transactions that write the rows. */
import type { Database, Query } from './database.ts'
import { createTables, TABLE_NAMES, type TableName } from './tables.ts'

/** Lists that are being read. */
export type Copying = {
  /** The tables whose lists are still to be read; the first is under way. */
  tables: TableName[]
  /** Where the list of the first goes on. */
  cursor: string | null
  /** Rows written before these passes go once the mirror has caught up, because neither the lists nor the feed named them. */
  sweep: Partial<Record<TableName, number>>
}

export type Position = {
  project: string
  /** Goes up with each transaction. One that finds another version has been overtaken by another mirror. */
  version: number
  /** The change to follow from. */
  after: string
  /** Goes up each time lists are read. Each row has the pass that wrote it. */
  pass: number
  /** Null once the lists are read and the mirror has caught up. */
  copying: Copying | null
}

/** Another mirror writes into the same tables. */
export class Overtaken extends Error {}

/** Reads how far the mirror of a project has come. @returns null if it has not begun. @throws if the tables are not its own */
export function readPosition(database: Database, project: string): Promise<Position | null> {
  return database.transaction(async (query) => {
    const exists = async (name: string) => (await query(database.findTable, [name])).length > 0
    if (!(await exists('mirror'))) {
      for (const name of TABLE_NAMES) {
        if (await exists(name))
          throw new Error(`The database has a table ${name} already. Choose another database, or another schema.`)
      }
      await query(`CREATE TABLE mirror (project TEXT PRIMARY KEY, version BIGINT NOT NULL, after TEXT NOT NULL,
        pass BIGINT NOT NULL, copying TEXT)`)
      await createTables(query, database.jsonType)
    }
    const [row] = await query('SELECT project, version, after, pass, copying FROM mirror')
    if (!row) return null
    if (row.project !== project)
      throw new Error(`The database has a mirror of ${row.project}. Choose another database, or another schema.`)
    const copying = row.copying === null ? null : (JSON.parse(String(row.copying)) as Copying)
    return { project, version: Number(row.version), after: String(row.after), pass: Number(row.pass), copying }
  })
}

/**
 * Moves the position, as the first statement of a transaction. Version 0 is that of a mirror that has not begun.
 *
 * @throws {Overtaken}
 */
export async function move(query: Query, from: Position, to: Omit<Position, 'project' | 'version'>): Promise<Position> {
  const next = { ...to, project: from.project, version: from.version + 1 }
  const copying = next.copying && JSON.stringify(next.copying)
  const values = [next.project, next.version, next.after, next.pass, copying]
  const moved =
    from.version === 0
      ? await query('INSERT INTO mirror VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING version', values)
      : await query(
          `UPDATE mirror SET version = $2, after = $3, pass = $4, copying = $5
          WHERE project = $1 AND version = $6 RETURNING version`,
          [...values, from.version],
        )
  if (moved.length === 0) throw new Overtaken('Another mirror writes into these tables. Run one at a time.')
  return next
}
