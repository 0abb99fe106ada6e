import { type SQL, sql } from 'drizzle-orm'
import { batch, type Database, type Queries, type Query, type Results } from './client'

/** The rows of a list that are counted at most. A total that is greater means "more than so many". */
export const MOST_COUNTED = 1_000
/** The rows that a count looks at for them. It may walk them twice. */
const MOST_LOOKED_AT = 2 * MOST_COUNTED

/** How many rows a list has: see {@link totalOf}. */
export type Total = { n: number | null }

type Counted = {
  /** Selects columns of the rows of an index, without a limit. */
  walk: (columns: SQL) => SQL
  /** What the columns are called in `rest`: an alias. */
  as: unknown
  /** The columns that `rest` needs. */
  columns: SQL
  /** Which of the rows count. */
  rest: SQL | undefined
}

/** How many rows a list has, as an expression: at most {@link MOST_COUNTED} + 1. NULL if that is not known after {@link MOST_LOOKED_AT} rows. */
export function totalOf({ walk, as, columns, rest = sql`1` }: Counted): SQL<number | null> {
  const found = sql`SELECT count(*) AS n FROM (
    SELECT 1 FROM (${walk(columns)} LIMIT ${MOST_LOOKED_AT}) ${as} WHERE ${rest} LIMIT ${MOST_COUNTED + 1})`
  const isMore = sql`EXISTS (${walk(sql`1`)} LIMIT 1 OFFSET ${MOST_LOOKED_AT})`
  return sql`(SELECT iif(n <= ${MOST_COUNTED} AND ${isMore}, NULL, n) FROM (${found}))`
}

/** Sends statements and, if there is one, a statement that counts, in one round trip. @returns what the first give, and what it counted */
export async function batchCounting<Q extends Queries, T extends object>(
  db: Database,
  queries: Q,
  count: Query<T[]> | null,
): Promise<[Results<Q>, T | null]> {
  if (count === null) return [await batch(db, queries), null]
  const { counted, ...found } = await batch(db, { ...queries, counted: count })
  return [found as unknown as Results<Q>, (counted as T[])[0] ?? null]
}
