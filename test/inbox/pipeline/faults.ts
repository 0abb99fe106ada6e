import { bound } from '../../harness'

/* D1 made to fail trip by trip, and a Queue that is down. */

/** One call of D1: a statement, or a batch. */
export type Trip = { index: number; sql: string; run: () => Promise<D1Result[]> }
export type Tamper = (trip: Trip) => Promise<D1Result[]>

/** The real D1, every call of which goes through `tamper`, which runs it, or does not, or says that it did not. */
export function tamperedD1(tamper: Tamper): D1Database {
  let trips = 0
  const wrap = (query: string, statement: D1PreparedStatement): any => ({
    query,
    real: statement,
    bind: (...values: unknown[]) => wrap(query, statement.bind(...values)),
    all: async () => {
      const [result] = await tamper({ index: trips++, sql: query, run: async () => [await statement.all()] })
      return result
    },
  })
  return {
    prepare: (query: string) => wrap(query, bound.DB.prepare(query)),
    batch: (statements: any[]) =>
      tamper({
        index: trips++,
        sql: statements.map(({ query }) => query).join(';\n'),
        run: () => bound.DB.batch(statements.map(({ real }) => real)),
      }),
  } as unknown as D1Database
}

export const LOST = 'D1_ERROR: Network connection lost.'
/** `before`: it did not happen. `after`: it happened, and the answer was lost. */
export const MODES = ['before', 'after'] as const
export type Mode = (typeof MODES)[number]

export async function fail(trip: Trip, mode: Mode): Promise<never> {
  if (mode === 'after') await trip.run()
  throw new Error(LOST)
}

/** D1 whose calls fail where `hits` says so. */
export function failingAt(hits: (trip: Trip) => boolean, mode: Mode): D1Database {
  return tamperedD1((trip) => (hits(trip) ? fail(trip, mode) : trip.run()))
}

/** D1 that is out until further notice. */
export const D1_OUT = failingAt(() => true, 'before')

/** A Queue that refuses every message. */
export const QUEUE_OUT = {
  send: async () => {
    throw new Error('Queue is overloaded. Please back off.')
  },
  sendBatch: async () => {
    throw new Error('Queue is overloaded. Please back off.')
  },
} as unknown as Queue<unknown>
