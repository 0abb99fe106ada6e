import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { within } from '../lib/within'

/** D1 that has not answered by then is taken as not answering: 503, and the caller tries again. */
export const ANSWER_TIMEOUT_MS = 5 * SECOND

/**
 * What a piece of work cost. `rows_…`, `size_bytes` (of the database, once it has answered) are D1's own figures. `ms`: the
 * time of all trips together. `failures`: failed trips by class, which is the name of the fault, `constraint`, or
 * `statement` for a mistake of ours.
 */
export type Meter = {
  trips: number
  rows_read: number
  rows_written: number
  size_bytes: number | null
  ms: number
  failures: Record<string, number>
}

/** A unique key, CHECK or NOT NULL that refused a write. Its message names the constraint, never a value. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
}

/**
 * The binding, decorated: each call is one round trip that is counted, bounded in time and, where it fails, given an
 * error of a known class. Drizzle runs on this in place of the raw binding.
 *
 * It passes on `prepare` and `batch`, which is all that Drizzle uses. Rows of `raw()` are read with `all()`, because D1
 * reports no cost with `raw()`: two selected columns must not have the same name (`batch` and `run` refuse them).
 *
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time
 */
export function metered(d1: D1Database, meter: Meter): D1Database {
  const inner = new WeakMap<object, D1PreparedStatement>()

  async function trip<R>(send: () => Promise<R>): Promise<R> {
    meter.trips += 1
    return timed(meter, answered(ANSWER_TIMEOUT_MS, send))
  }

  function counted<R extends D1Result<unknown>>(result: R): R {
    meter.rows_read += result.meta.rows_read
    meter.rows_written += result.meta.rows_written
    meter.size_bytes = result.meta.size_after ?? meter.size_bytes
    return result
  }

  function wrap(statement: D1PreparedStatement) {
    const all = async () => counted(await trip(() => statement.all<Record<string, unknown>>()))
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all,
      run: all,
      raw: async () => (await all()).results.map(Object.values),
    }
    inner.set(wrapped, statement)
    return wrapped
  }

  const decorated = {
    prepare: (query: string) => wrap(d1.prepare(query)),
    batch: async (statements: object[]) => {
      const own = statements.map((statement) => inner.get(statement) as D1PreparedStatement)
      return (await trip(() => d1.batch(own))).map(counted)
    },
  }
  return decorated as unknown as D1Database
}

/** Adds the time of a trip, and its failure if it has one, to the meter. */
async function timed<R>(meter: Meter, trip: Promise<R>): Promise<R> {
  const startedAt = Date.now()
  try {
    return await trip
  } catch (error) {
    const failure = classOf(error)
    meter.failures[failure] = (meter.failures[failure] ?? 0) + 1
    throw error
  } finally {
    meter.ms += Date.now() - startedAt
  }
}

function classOf(error: unknown): string {
  if (error instanceof Fault) return error.fault
  return error instanceof ConstraintError ? 'constraint' : 'statement'
}

/** @throws {Fault} `database_unavailable` where the work fails or has not ended within so many milliseconds */
export async function answered<T>(ms: number, send: () => Promise<T>): Promise<T> {
  try {
    return await within(ms, send())
  } catch (error) {
    throw classified(error)
  }
}

/** SQLite's own words decide: a constraint, a mistake of ours (which stays what it is: a 500), or D1 not answering. */
function classified(error: unknown): unknown {
  if (error instanceof Fault || error instanceof ConstraintError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (/constraint failed|SQLITE_CONSTRAINT/.test(message)) return new ConstraintError(message, { cause: error })
  if (/SQLITE_(ERROR|MISMATCH|RANGE|MISUSE|TOOBIG)|D1_TYPE_ERROR/.test(message)) return error
  return new Fault('database_unavailable', 'The database did not answer. Try again in a few seconds.', { cause: error })
}
