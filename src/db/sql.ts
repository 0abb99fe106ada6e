import { type Column, type SQL, sql } from 'drizzle-orm'

/** Columns by their bare names, as INSERT lists them and as the left side of SET has them. */
export function bare(...columns: Column[]): SQL {
  const names = columns.map(({ name }) => sql.identifier(name))
  return sql.join(names, sql`, `)
}

/** Words of ours as literals, such as the statuses in an `IN`: a partial index is used only where they are literals. */
export function literals(words: readonly string[]): SQL {
  return sql.raw(words.map((word) => `'${word}'`).join(', '))
}
