import { ANSWER_TIMEOUT_MS, answered, onceMore } from './answered'

/** What D1 itself says a piece of work cost. `size_bytes`: the size of the database, once it has answered. */
export type Meter = {
  trips: number
  statements: number
  rows_read: number
  rows_written: number
  size_bytes: number | null
}

/** `idempotent`: to execute these statements twice, as one transaction each, has the effect of executing them once. */
export type Sending = { idempotent?: boolean }

/** The decorated binding. */
export interface MeteredD1 extends D1Database {
  batch<T>(statements: D1PreparedStatement[], how?: Sending): Promise<D1Result<T>[]>
}

/**
 * The binding, decorated: each call is one round trip that is counted, bounded in time and, where it fails, given an
 * error of a known class. Drizzle runs on this in place of the raw binding. Reads, and writes that are said to be
 * idempotent, are sent once more after a transient error, within the same bound.
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
    const attempt = () => {
      meter.trips += 1
      meter.statements += statements
      return send()
    }
    return answered(ANSWER_TIMEOUT_MS, repeatable ? () => onceMore(attempt) : attempt)
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

/** Whether a statement writes nothing. One that has a writing word in a literal is taken for a write. */
function isRead(query: string): boolean {
  return /^\s*(SELECT|WITH)\b/i.test(query) && !/\b(INSERT|UPDATE|DELETE|REPLACE)\b/i.test(query)
}
