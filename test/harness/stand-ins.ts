import { everyD1 } from './stores'

/*
 * What stands in for the bindings: D1, the Queue, KV and limiters that count, record or fail. Pass them as `bindings`.
 */

/**
 * One call of D1: a statement, or a batch (its statements' texts joined by `;\n`). `values`: what each statement binds.
 */
export type Trip = {
  index: number
  sql: string
  statements: number
  values: unknown[][]
  run: () => Promise<D1Result[]>
}
/** What becomes of a call of D1: run it and return what it gives, or throw. */
export type Tamper = (trip: Trip) => Promise<D1Result[]>

type Wrapped = { query: string; real: D1PreparedStatement; values: unknown[] }

/** The real D1, each call of which goes through `tamper`: every database, if passed as `DB`. */
export function tamperedD1(tamper: Tamper): D1Database {
  const count = { trips: 0 }
  return everyD1((real) => tampered(real, tamper, count))
}

/** The batch that wakes the followers of a project after a call, alone: see src/followers/wake.ts. */
const WAKES = /^update "webhook_endpoints" set "woken_at" = \?(?!.*;\n(?!update "watchers"))/s

/** One database, each call of which goes through `tamper`. */
export function tampered(database: D1Database, tamper: Tamper, count = { trips: 0 }): D1Database {
  const wrap = (query: string, real: D1PreparedStatement, values: unknown[] = []) => ({
    query,
    real,
    values,
    bind: (...bound: unknown[]) => wrap(query, real.bind(...bound), bound),
    all: async () => {
      const run = async () => [await real.all()]
      const [result] = await tamper({ index: count.trips++, sql: query, statements: 1, values: [values], run })
      return result
    },
  })
  const batch = (statements: Wrapped[]) => {
    const run = () => database.batch(statements.map(({ real }) => real))
    const sql = statements.map(({ query }) => query).join(';\n')
    // Beside the answer of a call, once it has been given: it is no part of what the call does.
    if (WAKES.test(sql)) return run()
    return tamper({
      index: count.trips++,
      sql,
      statements: statements.length,
      values: statements.map(({ values }) => values),
      run,
    })
  }
  return { prepare: (query: string) => wrap(query, database.prepare(query)), batch } as unknown as D1Database
}

/** The real D1, and a count of what it is asked, in D1's own figures. */
export function countingD1() {
  const count = { trips: 0, statements: 0, rows_read: 0, rows_written: 0 }
  const DB = tamperedD1(async ({ statements, run }) => {
    count.trips += 1
    count.statements += statements
    const results = await run()
    for (const { meta } of results) {
      count.rows_read += meta.rows_read
      count.rows_written += meta.rows_written
    }
    return results
  })
  return { DB, count }
}

/** How D1 says that it cannot be reached. */
export const D1_LOST = 'D1_ERROR: Network connection lost.'

/** How D1 refuses a statement with a mistake in it. */
export const OUR_MISTAKE = 'D1_ERROR: no such column: hash_of_the_secret at offset 7: SQLITE_ERROR'

/** How D1 says that it has reached its size limit. */
export const D1_FULL = 'D1_ERROR: Exceeded maximum DB size'

/** D1 that answers every call with this error. */
export function failingD1(message: string): D1Database {
  return tamperedD1(async () => {
    throw new Error(message)
  })
}

/** A Queue that takes every message, records its body in `sent`, and hands none to `forward` unless there is one. */
export function recordingQueue(forward?: Queue<unknown>) {
  const sent: unknown[] = []
  const EVENTS = {
    send: async (body: unknown) => {
      sent.push(body)
      return forward?.send(body)
    },
    sendBatch: async (messages: Iterable<MessageSendRequest>) => {
      for (const { body } of messages) sent.push(body)
      return forward?.sendBatch(messages)
    },
  } as unknown as Queue<unknown>
  return { EVENTS, sent }
}

/** A Queue that takes every message and delivers none. */
export const lossyQueue = () => recordingQueue()

/** A Queue that refuses every message. */
export const QUEUE_OUT = { send: refuse, sendBatch: refuse } as unknown as Queue<unknown>

async function refuse(): Promise<never> {
  throw new Error('Queue is overloaded. Please back off.')
}

/** KV that fails whatever it is asked. */
export const KV_OUT = {
  get: async () => {
    throw new Error('KV GET failed: 500')
  },
  getWithMetadata: async () => {
    throw new Error('KV GET failed: 500')
  },
  put: async () => {
    throw new Error('KV PUT failed: 500')
  },
} as unknown as KVNamespace

/** A limiter that fails whatever it is asked. */
export const LIMITER_OUT: RateLimit = {
  limit: async () => {
    throw new Error('internal error; reference = 1234567890')
  },
}
/** A limiter whose limit is reached. */
export const LIMIT_REACHED: RateLimit = { limit: async () => ({ success: false }) }

export type Mail = { from: string; to: string; subject: string; text: string }

/** A mail binding that records what it is to send. */
export function mailbox() {
  const mails: Mail[] = []
  const EMAIL = { send: async (mail: Mail) => void mails.push(mail) } as unknown as SendEmail
  return { EMAIL, mails }
}

/** An Analytics Engine dataset that records its data points. */
export function dataset() {
  const points: AnalyticsEngineDataPoint[] = []
  const METRICS: AnalyticsEngineDataset = { writeDataPoint: (point) => void (point && points.push(point)) }
  return { METRICS, points }
}
