import { type Column, type SQL, sql } from 'drizzle-orm'

/**
 * A page of a list, and its end if the page may look at a limited number of rows and is not full after them: a row with only
 * the place of the last one looked at. SQLite reads the end only where the page has fewer rows than `take`.
 *
 * @param columns of the page, in order
 * @param end.place the columns that the end has; the others are NULL
 * @param end.from what the page looks at, in its order: everything after the selected columns
 * @param end.most how many rows the page may look at; null without a limit
 */
export function withEnd(
  columns: readonly string[],
  page: SQL,
  { place, from, most }: { place: Record<string, SQL | Column>; from: SQL; most: number | null },
  take: number,
): SQL {
  const fields = sql.join(
    columns.map((name) => sql`${place[name] ?? sql`NULL`}`),
    sql`, `,
  )
  return sql`SELECT * FROM (${page})
    UNION ALL
    SELECT * FROM (SELECT ${fields} ${from} LIMIT ${most === null ? 0 : 1} OFFSET ${(most ?? 1) - 1})
    LIMIT ${take}`
}
