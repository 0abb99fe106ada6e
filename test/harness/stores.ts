import type { Env } from '../../src/env'
import { bound } from './bound'

/** The stores that a test runs with: see vitest.config.ts. */
export const STORES = [0, 1, 2].filter((store) => store === 0 || bound[`STORE_${store}`] !== undefined)

/**
 * The store that the tests' projects are made in: the last one. The others are closed to new projects (setup.ts), so that
 * whatever asks the wrong database finds nothing.
 */
export const STORE_NUMBER = STORES.at(-1) ?? 0

/** The database of a store. */
export function databaseOf(store: number): D1Database {
  const database = store === 0 ? bound.DB : bound[`STORE_${store}`]
  if (!database) throw new Error(`store ${store} is not bound`)
  return database
}

/** The database of the tests' projects, with all that is theirs. */
export const STORE = databaseOf(STORE_NUMBER)
/** The database of people, and of which projects there are. */
export const DIRECTORY = bound.DB

/** The real queue of the tests' projects. */
export const QUEUE = (STORE_NUMBER === 0 ? bound.EVENTS : bound[`EVENTS_${STORE_NUMBER}`]) as Queue<unknown>
/** Trips to the directory that are made at the same time as one to a store, where they are not one database. */
export const BESIDE = STORE_NUMBER === 0 ? 0 : 1

/** The name of a store's queue. */
export function queueOf(store: number): string {
  return store === 0 ? 'platform-api-events' : `platform-api-events-${store}`
}

/** The bindings in which a database stands in for that of the tests' projects alone. */
export function inStore(database: D1Database): Partial<Env> {
  const name = STORE_NUMBER === 0 ? 'DB' : `STORE_${STORE_NUMBER}`
  return { [name]: database } as unknown as Partial<Env>
}

const AT = Symbol('at')
/** A stand-in of D1 that stands in for every database, each with its own rows. */
export type EveryD1 = D1Database & { [AT]: (real: D1Database) => D1Database }

/** Makes a stand-in for one database one for all of them: `DB` in `bindings` means all of D1. */
export function everyD1(make: (real: D1Database) => D1Database): EveryD1 {
  // One for each, however often it is passed: an isolate knows a database by its binding.
  const made = new Map<D1Database, D1Database>()
  const at = (real: D1Database) => {
    const standIn = made.get(real) ?? make(real)
    made.set(real, standIn)
    return standIn
  }
  return Object.assign(at(STORE), { [AT]: at })
}

/**
 * The bindings under test, some of them replaced. A stand-in for `DB` or `EVENTS` stands in for those of every store, unless
 * one is named: what is tested with one store holds with several. An undefined binding is taken away.
 */
export function bindingsWith(bindings: Partial<Env> = {}): Env {
  const { DB, EVENTS } = bindings
  const spread: Partial<Env> = {}
  for (const store of STORES.slice(1)) {
    if (DB && AT in DB) spread[`STORE_${store}`] = (DB as EveryD1)[AT](databaseOf(store))
    if (EVENTS) spread[`EVENTS_${store}`] = EVENTS
  }
  if (DB && AT in DB) spread.DB = (DB as EveryD1)[AT](bound.DB)
  const all = Object.entries({
    ...bound,
    FETCHES: NO_QUEUE,
    DELIVERIES: NO_QUEUE,
    SLOW_DELIVERIES: NO_QUEUE,
    WATCHERS: NO_QUEUE,
    ...limiters,
    ...bindings,
    ...spread,
    ...named(bindings),
  })
  return Object.fromEntries(all.filter(([, binding]) => binding !== undefined)) as unknown as Env
}

/** A queue that loses its messages: the runner does not end while a real one has some on their way. */
const NO_QUEUE = { send: async () => {}, sendBatch: async () => {} } as unknown as Queue<unknown>

const NO_LIMIT = { limit: async () => ({ success: true }) } as unknown as RateLimit

const UNLIMITED = Object.fromEntries(
  Object.keys(bound)
    .filter((name) => name.startsWith('LIMIT_'))
    .map((name) => [name, NO_LIMIT]),
) as unknown as Partial<Env>
let limiters = UNLIMITED

/**
 * Uses the real rate limiters for the rest of the test. By default, stand-ins allow every request: a real limiter takes as long as a trip to
 * the database, and a test with many requests could be refused on a fast machine.
 */
export function withLimits(): void {
  limiters = {}
}

/** Ends what {@link withLimits} has begun. */
export function withoutLimits(): void {
  limiters = UNLIMITED
}

/** The bindings of single stores. */
function named(bindings: Partial<Env>): Partial<Env> {
  return Object.fromEntries(
    Object.entries(bindings).filter(([name]) => /^(STORE|EVENTS)_\d/.test(name)),
  ) as Partial<Env>
}
