import type { SQL } from 'drizzle-orm'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'

/** What D1 itself says a piece of work cost. */
export type Meter = { trips: number; rows_read: number; rows_written: number }

export type RunResult<Row> = { rows: Row[]; rows_written: number }

/** The row type of an `sql<Row>` statement. */
export type RowOf<S> = S extends SQL<infer Row> ? Row : unknown

/** A unique key, CHECK or NOT NULL that refused a write. Its message names the constraint, never a value. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
}

/** D1 that has not answered by then is taken as not answering: 503, and the caller tries again. */
const TIMEOUT_MS = 5 * SECOND
const PING_TIMEOUT_MS = 2 * SECOND

/** How Drizzle's statements read in SQLite. Its dialect would say the same, and bring every builder into the bundle. */
const SQLITE = {
  escapeName: (name: string) => `"${name}"`,
  escapeParam: () => '?',
  escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
  casing: { getColumnCasing: ({ name }: { name: string }) => name },
} as unknown as Parameters<SQL['toQuery']>[0]

export type Db = ReturnType<typeof openDb>

/**
 * The one door to D1. Takes Drizzle's `sql` statements; every call is one round trip. They are run here and never by
 * Drizzle's own session: its `batch` throws on raw SQL with values (drizzle-orm#2277) and hides the meta of statements
 * that return rows. Rows come back as D1 gives them, keyed by column name.
 *
 * The plain binding reads the primary, which is what makes a revocation hold from the moment it is answered: never pass
 * a session here (`withSession`).
 *
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time
 */
export function openDb(d1: D1Database, timeoutMs = TIMEOUT_MS) {
  const meter: Meter = { trips: 0, rows_read: 0, rows_written: 0 }

  function prepare(statement: SQL): D1PreparedStatement {
    const { sql, params } = statement.getSQL().toQuery(SQLITE)
    return d1.prepare(sql).bind(...params)
  }

  async function run<Row>(work: () => Promise<D1Result<Row>[]>): Promise<RunResult<Row>[]> {
    meter.trips += 1
    const results = await bounded(work, timeoutMs)
    return results.map((result) => {
      meter.rows_read += result.meta.rows_read
      meter.rows_written += result.meta.rows_written
      return { rows: result.results ?? [], rows_written: result.meta.rows_written }
    })
  }

  return {
    meter,

    /** Every row of one statement. */
    async all<S extends SQL>(statement: S): Promise<RowOf<S>[]> {
      const [result] = await run<RowOf<S>>(async () => [await prepare(statement).all<RowOf<S>>()])
      return result?.rows ?? []
    },

    /** The first row of one statement, or null. */
    async first<S extends SQL>(statement: S): Promise<RowOf<S> | null> {
      return (await this.all(statement))[0] ?? null
    },

    /** Whether D1 answers at all, within a tighter bound. @throws {Fault} `database_unavailable` */
    async ping(): Promise<void> {
      await bounded(() => d1.prepare('SELECT 1').first(), Math.min(timeoutMs, PING_TIMEOUT_MS))
    },

    /** Several statements as one transaction and one round trip: if one fails, none has happened. */
    async batch<const S extends readonly SQL[]>(statements: S): Promise<{ [K in keyof S]: RunResult<RowOf<S[K]>> }> {
      const results = await run(async () => d1.batch(statements.map(prepare)))
      return results as { [K in keyof S]: RunResult<RowOf<S[K]>> }
    },
  }
}

async function bounded<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work(), timeout])
  } catch (error) {
    throw classified(error)
  } finally {
    clearTimeout(timer)
  }
}

/** SQLite's own words decide: a constraint, a mistake of ours (which stays what it is: a 500), or D1 not answering. */
function classified(error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error)
  if (/constraint failed|SQLITE_CONSTRAINT/.test(message)) return new ConstraintError(message, { cause: error })
  if (/SQLITE_(ERROR|MISMATCH|RANGE|MISUSE|TOOBIG)|D1_TYPE_ERROR/.test(message)) return error
  return new Fault('database_unavailable', 'The database did not answer. Try again in a few seconds.', { cause: error })
}
