import { D1_LOST, type Trip, tamperedD1 } from '../../harness'

/* D1 that fails trip by trip. */

/** `before`: it did not happen. `after`: it happened, and the answer was lost. */
export const MODES = ['before', 'after'] as const
export type Mode = (typeof MODES)[number]

/** Fails a call of D1, having run it or not. */
export async function fail(trip: Trip, mode: Mode): Promise<never> {
  if (mode === 'after') await trip.run()
  throw new Error(D1_LOST)
}

/** D1 whose calls fail where `hits` says so. */
export function failingAt(hits: (trip: Trip) => boolean, mode: Mode): D1Database {
  return tamperedD1((trip) => (hits(trip) ? fail(trip, mode) : trip.run()))
}

/** D1 that is out until further notice. */
export const D1_OUT = failingAt(() => true, 'before')
