/* Reads the lists, page by page. Each page is a transaction, so a copy that was stopped goes on with the next page. */
import { type Api, inParallel, Refused } from './api.ts'
import type { Database } from './database.ts'
import { readList, readObject, rowOf } from './objects.ts'
import { type Copying, move, type Position } from './position.ts'
import { TABLE_NAMES, type TableName, type Write, writeRows } from './tables.ts'

/** Begins to read the lists of all tables, after a position that was taken before. */
export function beginCopy(database: Database, from: Position, after: string): Promise<Position> {
  const pass = from.pass + 1
  return database.transaction((query) => move(query, from, { after, pass, copying: copyingOf(TABLE_NAMES, pass) }))
}

/** The lists of these tables, from their beginnings. */
export function copyingOf(tables: readonly TableName[], pass: number, sweep: Copying['sweep'] = {}): Copying {
  const own = Object.fromEntries(tables.map((table) => [table, pass]))
  return { tables: [...tables], cursor: null, sweep: { ...sweep, ...own } }
}

/** Copies the next page of the lists. */
export async function copyPage(api: Api, database: Database, from: Position, copying: Copying) {
  const [table = 'consumers', ...rest] = copying.tables
  const { data, next_cursor, watching } = await listFrom(api, table, copying.cursor)
  const rows = data.map((object) => rowOf(table, object))
  // The list of customers says whose they are. What else is known of one is read by itself.
  const read = table === 'customers' ? await inParallel(rows, (row) => readObject(api, row)) : rows
  const writes = read.filter((write): write is Write => write !== null)
  const next = next_cursor === null ? { ...copying, tables: rest, cursor: null } : { ...copying, cursor: next_cursor }
  const position = await database.transaction(async (query) => {
    const moved = await move(query, from, { ...from, copying: next })
    await writeRows(query, writes, from.pass)
    return moved
  })
  return { position, table, rows: writes.length, ended: next_cursor === null, watching }
}

/** A page of a list; its first one if the cursor is no longer valid. */
async function listFrom(api: Api, table: TableName, cursor: string | null) {
  try {
    return await readList(api, table, cursor)
  } catch (error) {
    if (cursor !== null && error instanceof Refused && error.code === 'invalid_cursor')
      return readList(api, table, null)
    throw error
  }
}
