/*
 * The two databases that a mirror can be in, behind one interface. Statements are written once: they have the parameters $1, $2, …, and
 * what PostgreSQL and SQLite both understand.
 */
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

export type Value = string | number | null
export type Row = Record<string, Value>
/** Runs one statement. @returns its rows */
export type Query = (statement: string, values?: readonly Value[]) => Promise<Row[]>

export type Database = {
  /** Runs statements in one transaction, and rolls it back if they throw. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Whether an error may be gone after a while, as when the database starts again or another program has locked it. */
  isPassing(error: unknown): boolean
  /** The type of a column with JSON. It is read as text. */
  jsonType: string
  /** A statement that returns a row if there is a table of the name $1 where names of tables are looked for. */
  findTable: string
  close(): Promise<void>
}

/** Opens a database. @param to a `postgres://` URL, or the name of an SQLite file */
export function openDatabase(to: string): Promise<Database> {
  return isPostgres(to) ? openPostgres(to) : openSqlite(to)
}

export function isPostgres(to: string): boolean {
  return /^postgres(ql)?:\/\//.test(to)
}
