import { Fault } from '../lib/fault'
import { ANSWER_TIMEOUT_MS, answered, ConstraintError, onceMore } from './answered'

/**
 * What a piece of work cost. `rows_…` and `size_bytes` (of the database, once it has answered) are D1's own figures. `ms`:
 * the time of all trips together. `failures`: trips that failed, by class. The class is the name of the fault, `constraint`,
 * `statement` for a bug of ours, or `transient` for a trip that was retried.
 */
export type Meter = {
  trips: number
  statements: number
  rows_read: number
  rows_written: number
  size_bytes: number | null
  ms: number
  failures: Record<string, number>
}

export function noCost(): Meter {
  return { trips: 0, statements: 0, rows_read: 0, rows_written: 0, size_bytes: null, ms: 0, failures: {} }
}

/** What several databases cost together. Their sizes are not summed up. */
export function sumOf(meters: readonly Meter[]): Meter {
  const sum = noCost()
  for (const meter of meters) {
    for (const name of ['trips', 'statements', 'rows_read', 'rows_written', 'ms'] as const) sum[name] += meter[name]
    for (const [name, n] of Object.entries(meter.failures)) sum.failures[name] = (sum.failures[name] ?? 0) + n
  }
  return sum
}

/**
 * `idempotent`: executing these statements twice, as one transaction each time, has the same effect as executing them
 * once.
 */
export type Sending = { idempotent?: boolean }

/** The decorated binding. */
export interface MeteredD1 extends D1Database {
  batch<T>(statements: D1PreparedStatement[], how?: Sending): Promise<D1Result<T>[]>
}

/**
 * The binding, decorated: each call is one round trip that is counted, bounded in time and, where it fails, given an
 * error of a known class. Drizzle runs on this in place of the raw binding. Reads, and writes that are said to be
 * idempotent, are retried once after a transient error, within the same bound.
 *
 * It passes on `prepare` and `batch`, which is all that Drizzle uses. Rows of `raw()` are read with `all()`, because D1
 * reports no cost with `raw()`: two selected columns must not have the same name (`batch` and `run` refuse them).
 *
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time; `database_full`
 */
export function metered(d1: D1Database, meter: Meter): MeteredD1 {
  const inner = new WeakMap<object, { statement: D1PreparedStatement; reads: boolean }>()

  function trip<R>(send: () => Promise<R>, statements: number, repeatable: boolean): Promise<R> {
    let attempts = 0
    const attempt = () => {
      attempts += 1
      if (attempts > 1) countFailure(meter, 'transient')
      meter.trips += 1
      meter.statements += statements
      return send()
    }
    return timed(meter, answered(ANSWER_TIMEOUT_MS, repeatable ? () => onceMore(attempt) : attempt))
  }

  function counted<R extends D1Result<unknown>>(result: R): R {
    meter.rows_read += result.meta.rows_read
    meter.rows_written += result.meta.rows_written
    meter.size_bytes = result.meta.size_after ?? meter.size_bytes
    return result
  }

  function wrap(statement: D1PreparedStatement, reads: boolean) {
    const all = async () => counted(await trip(() => statement.all<Record<string, unknown>>(), 1, reads))
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values), reads),
      all,
      run: all,
      raw: async () => (await all()).results.map(Object.values),
    }
    inner.set(wrapped, { statement, reads })
    return wrapped
  }

  const decorated = {
    prepare: (query: string) => wrap(d1.prepare(query), isRead(query)),
    batch: async (statements: object[], { idempotent = false }: Sending = {}) => {
      const own = statements.map((wrapped) => inner.get(wrapped) as { statement: D1PreparedStatement; reads: boolean })
      const send = () => d1.batch(own.map(({ statement }) => statement))
      return (await trip(send, own.length, idempotent || own.every(({ reads }) => reads))).map(counted)
    },
  }
  return decorated as unknown as MeteredD1
}

/** Adds the time of a trip, and its failure if it has one, to the meter. */
async function timed<R>(meter: Meter, trip: Promise<R>): Promise<R> {
  const startedAt = Date.now()
  try {
    return await trip
  } catch (error) {
    countFailure(meter, classOf(error))
    throw error
  } finally {
    meter.ms += Date.now() - startedAt
  }
}

function countFailure(meter: Meter, name: string): void {
  meter.failures[name] = (meter.failures[name] ?? 0) + 1
}

function classOf(error: unknown): string {
  if (error instanceof Fault) return error.fault
  return error instanceof ConstraintError ? 'constraint' : 'statement'
}

/** Whether a statement writes nothing. One that has a writing word in a literal is taken for a write. */
function isRead(query: string): boolean {
  return /^\s*(SELECT|WITH)\b/i.test(query) && !/\b(INSERT|UPDATE|DELETE|REPLACE)\b/i.test(query)
}
