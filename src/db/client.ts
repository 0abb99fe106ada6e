import type { SQL } from 'drizzle-orm'
import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { bounded, classified, type Lane, openTrips, type TripOptions } from './trips'

export { ConstraintError } from './trips'

/** What D1 itself says a piece of work cost. */
export type Meter = { trips: number; rows_read: number; rows_written: number }

export type RunResult<Row> = { rows: Row[]; rows_written: number }

/** A statement of Drizzle's whose rows are `Row`. */
export type Statement<Row> = SQL<Row>

/** The row type of an `sql<Row>` statement. */
export type RowOf<S> = S extends SQL<infer Row> ? Row : unknown

/** What each statement of a batch gave. */
type ResultsOf<S extends readonly SQL[]> = { [K in keyof S]: RunResult<RowOf<S[K]>> }

/** A statement that waits for a trip to leave with. */
type Rider = { statement: SQL; resolve: (result: RunResult<unknown>) => void; reject: (error: unknown) => void }

const PING_TIMEOUT_MS = 2 * SECOND

/** How Drizzle's statements read in SQLite. Its dialect would say the same, and bring every builder into the bundle. */
const SQLITE = {
  escapeName: (name: string) => `"${name}"`,
  escapeParam: () => '?',
  escapeString: (text: string) => `'${text.replaceAll("'", "''")}'`,
  casing: { getColumnCasing: ({ name }: { name: string }) => name },
} as unknown as Parameters<SQL['toQuery']>[0]

export type Db = ReturnType<typeof openDb>
export type DbOptions = Partial<Pick<TripOptions, 'waitUntil'>>

/**
 * The one door to D1. Takes Drizzle's `sql` statements; every call is one round trip, or shares one. They are run here
 * and never by Drizzle's own session: its `batch` throws on raw SQL with values (drizzle-orm#2277) and hides the meta of
 * statements that return rows. Rows come back as D1 gives them, keyed by column name.
 *
 * The plain binding reads the primary, which is what makes a revocation hold from the moment it is answered: never pass
 * a session here (`withSession`).
 *
 * `meter` counts the rows of this door's own statements, and the trips that it made itself.
 *
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time
 */
export function openDb(d1: D1Database, { waitUntil = () => {} }: DbOptions = {}) {
  const meter: Meter = { trips: 0, rows_read: 0, rows_written: 0 }
  const onTrip = () => {
    meter.trips += 1
  }
  const send = openTrips(d1, { waitUntil, onTrip })
  let rider: Rider | null = null

  function prepare(statement: SQL): D1PreparedStatement {
    const { sql, params } = statement.getSQL().toQuery(SQLITE)
    return d1.prepare(sql).bind(...params)
  }

  /** @param weight of what shares a trip: statements of reads, bytes of writes */
  async function run(statements: readonly SQL[], lane?: Lane, weight?: number): Promise<RunResult<unknown>[]> {
    const taken = rider
    rider = null
    try {
      const all = taken ? [taken.statement, ...statements] : statements
      const results = (await send(all.map(prepare), lane, weight ?? all.length)).map(metered)
      if (taken) taken.resolve(results.shift() as RunResult<unknown>)
      return results
    } catch (error) {
      const said = classified(error)
      // Refused, perhaps for a statement that it left with: it goes again, alone.
      if (taken && statements.length > 0 && !(said instanceof Fault)) rider = taken
      else taken?.reject(said)
      throw said
    }
  }

  function metered({ meta, results }: D1Result): RunResult<unknown> {
    meter.rows_read += meta.rows_read
    meter.rows_written += meta.rows_written
    return { rows: results ?? [], rows_written: meta.rows_written }
  }

  return {
    meter,

    /** Every row of one statement. */
    async all<S extends SQL>(statement: S): Promise<RowOf<S>[]> {
      const [result] = await run([statement])
      return (result?.rows ?? []) as RowOf<S>[]
    },

    /** The first row of one statement, or null. */
    async first<S extends SQL>(statement: S): Promise<RowOf<S> | null> {
      return (await this.all(statement))[0] ?? null
    },

    /** As `first`, for a read of a few rows by key: it may share its trip with those of other requests. */
    async point<Row>(statement: Statement<Row>): Promise<Row | null> {
      const [result] = await run([statement], 'reads')
      return (result?.rows[0] ?? null) as Row | null
    },

    /** As `point`, but it leaves with the next trip of this door, or when {@link depart} is called. */
    async ride<Row>(statement: Statement<Row>): Promise<Row | null> {
      if (rider) throw new Error('one statement at a time waits for a trip')
      const { promise, ...settle } = Promise.withResolvers<RunResult<unknown>>()
      rider = { statement, ...settle }
      return ((await promise).rows[0] ?? null) as Row | null
    },

    /** Sends what has found no trip to leave with. */
    depart(): void {
      if (rider) run([], 'reads').catch(() => {}) // thrown where the rider is awaited
    },

    /** Whether D1 answers at all, within a tighter bound. @throws {Fault} `database_unavailable` */
    async ping(): Promise<void> {
      await bounded(() => d1.prepare('SELECT 1').first(), PING_TIMEOUT_MS)
    },

    /** Several statements as one transaction and one round trip: if one fails, none has happened. */
    async batch<const S extends readonly SQL[]>(statements: S): Promise<ResultsOf<S>> {
      return (await run(statements)) as ResultsOf<S>
    },

    /**
     * As `batch`, for a few small writes: they may share their trip, and its transaction, with those of other requests.
     *
     * @param bytes about how large their values are
     */
    async batchShared<const S extends readonly SQL[]>(statements: S, bytes: number): Promise<ResultsOf<S>> {
      return (await run(statements, 'writes', bytes)) as ResultsOf<S>
    },
  }
}
