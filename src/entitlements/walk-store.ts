import { type SQL, sql } from 'drizzle-orm'

/** The rows of a walk, each with its number as `nth`, and whether it is the last one as `is_last`. */
export function numbered(walk: SQL, order: SQL): SQL {
  return sql`SELECT *, row_number() OVER by_key AS nth, lead(1, 1, 0) OVER by_key = 0 AS is_last
    FROM (${walk}) WINDOW by_key AS (ORDER BY ${order})`
}
