import type { SQL } from 'drizzle-orm'
import type { Db, Query } from './client'

/** Until every store states its statements as Drizzle does. */
export type Statement<Row> = SQL<Row>
export type RowOf<S> = S extends SQL<infer Row> ? Row : unknown
type ResultsOf<S extends readonly SQL[]> = { [K in keyof S]: { rows: RowOf<S[K]>[] } }

export function old(db: Db) {
  const prepare = (statement: SQL) => {
    const { sql, params } = db.all(statement).getQuery()
    return db.d1.prepare(sql).bind(...params)
  }
  return {
    /** For a batch whose other statements are Drizzle's already. */
    query<S extends SQL>(statement: S): Query<RowOf<S>[]> {
      const prepared = {
        getQuery: () => db.all(statement).getQuery(),
        mapResult: ({ results }: { results: unknown }) => results,
      }
      return { _prepare: () => prepared } as unknown as Query<RowOf<S>[]>
    },
    async all<S extends SQL>(statement: S): Promise<RowOf<S>[]> {
      return (await prepare(statement).all()).results as RowOf<S>[]
    },
    async first<S extends SQL>(statement: S): Promise<RowOf<S> | null> {
      return (await this.all(statement))[0] ?? null
    },
    async batch<const S extends readonly SQL[]>(statements: S): Promise<ResultsOf<S>> {
      const results = await db.d1.batch(statements.map(prepare))
      return results.map(({ results }) => ({ rows: results ?? [] })) as unknown as ResultsOf<S>
    },
  }
}
