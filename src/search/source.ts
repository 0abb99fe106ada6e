import { type Column, type SQL, sql } from 'drizzle-orm'
import type { Database, Query } from '../db/client'
import type { Scope } from '../lib/access'
import type { FoundType } from './fields'
import type { Typed } from './typed'

/** An object that a text names. `vendor`: whose id it is, if it is not one of ours. */
export type Found = { id: string; title: string; detail: string | null; vendor: string | null }

/** Where objects of a type are looked for, for callers with the scope. */
export type Source<D extends Database> = {
  type: FoundType
  scope: Scope
  /** The statement that finds them. Null if the text cannot name any. */
  find: (db: D, project: string, typed: Typed) => Query<Found[]> | null
}

export const NOTHING = sql<null>`NULL`

/** Whether a column begins with a text. It can use an index of the column, whose order is that of bytes. */
export function begins(column: Column | SQL, text: string): SQL {
  return sql`(${column} >= ${text} AND ${column} < ${`${text}\u{10ffff}`})`
}

/** Whether a column contains a text, whatever the case of ASCII letters. It reads each row that the other conditions leave. */
export function contains(column: Column, { lower }: Typed): SQL {
  return sql`instr(lower(${column}), ${lower}) > 0`
}

/** For texts of one kind: those that are an id of ours with this prefix, or those that are none. */
export const byId = <T>({ id }: Typed, prefix: string, query: () => T): T | null => (id === prefix ? query() : null)
export const byText = <T>({ id }: Typed, query: () => T): T | null => (id === null ? query() : null)
/** For objects that are found by their id as well as by their name. */
export const byBoth = <T>({ id }: Typed, prefix: string, query: (isId: boolean) => T): T | null =>
  id === null || id === prefix ? query(id !== null) : null
