import { type Column, type SQL, sql } from 'drizzle-orm'
import { bare, excluded } from './sql'

/** For `ON CONFLICT DO UPDATE SET`: adds what the INSERT had to the row that is there, for each of these columns. */
export function addUp(...columns: Column[]): SQL {
  return sql.join(
    columns.map((column) => sql`${bare(column)} = ${column} + ${excluded(column)}`),
    sql`, `,
  )
}

/** For `ON CONFLICT DO UPDATE SET`: what the INSERT had takes the place of what is there, for each of these columns. */
export function replaced(...columns: Column[]): SQL {
  return sql.join(
    columns.map((column) => sql`${bare(column)} = ${excluded(column)}`),
    sql`, `,
  )
}

/**
 * As {@link addUp}, for a column of JSON counts (`{ name: n }`): each name's counts are added.
 *
 * @param most names that are kept: those with the highest counts. By default all
 */
export function addUpCounts(column: Column, most?: number): SQL {
  const limit = most === undefined ? sql`` : sql` ORDER BY v DESC, k LIMIT ${most}`
  return sql`${bare(column)} = (SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v FROM
    (SELECT key, value FROM json_each(${column}) UNION ALL SELECT key, value FROM json_each(${excluded(column)}))
    GROUP BY key${limit}))`
}
