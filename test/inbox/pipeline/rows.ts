import type { InferSelectModel, Table } from 'drizzle-orm'
import type { attempts, bodies, events, minutes, refs, replays, totals } from '../../../src/inbox/schema'
import { databaseOf, STORE, STORES } from '../../harness'

/** A table's row as the database holds it, without Drizzle's mapping: JSON is text, and a boolean is 0 or 1. */
type Row<T extends Table, Columns = InferSelectModel<T>> = {
  [Name in keyof Columns]: Columns[Name] extends string | number | null
    ? Columns[Name]
    : Columns[Name] extends boolean | null
      ? number | Extract<Columns[Name], null>
      : string | Extract<Columns[Name], null>
}
/** Rows of the inbox's tables. */
export type Rows = {
  events: Row<typeof events>
  attempts: Row<typeof attempts>
  bodies: Row<typeof bodies>
  refs: Row<typeof refs>
  totals: Row<typeof totals>
  minutes: Row<typeof minutes>
  replays: Row<typeof replays>
}

/** Reads with SQL. `T`: a row's type, which the SQL must fit. */
export async function rows<T = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<T[]> {
  return (
    await STORE.prepare(sql)
      .bind(...values)
      .all<T>()
  ).results
}

/** As {@link rows}, of every store. */
export async function rowsOfAll<T = Record<string, unknown>>(sql: string, ...values: unknown[]): Promise<T[]> {
  const asked = STORES.map((store) =>
    databaseOf(store)
      .prepare(sql)
      .bind(...values)
      .all<T>(),
  )
  return (await Promise.all(asked)).flatMap(({ results }) => results)
}

/** A project's events as they are stored, oldest first. */
export function stored(project: string): Promise<Rows['events'][]> {
  return rows('SELECT * FROM events WHERE project_id = ? ORDER BY id', project)
}

/** Reads the one row that there is. @throws where there is none, or more than one */
export async function only<T>(found: T[] | Promise<T[]>): Promise<T> {
  const [row, ...others] = await found
  if (row === undefined || others.length > 0) throw new Error(`expected one row, found ${row ? others.length + 1 : 0}`)
  return row
}
