// `npm run stores` runs this file too, in Node.js, which needs the extension.
import { MAX_STORE_BYTES, OPENS_AFTER_MS, ROOMY_SHARE, SEEN_WITHIN_MS } from './limits.ts'
import type { StoreRow } from './store'

/** `opening`: too new for projects. `closed`: an operator closed it to new ones. `unbound`: this deployment lacks it. */
export const STORE_STATES = ['open', 'opening', 'closed', 'failing', 'unbound'] as const
export type StoreState = (typeof STORE_STATES)[number]

/** The state of a store, from what the cron noted about it. Store 0 is open from the start. */
export function storeState(row: StoreRow, bound: readonly number[], now: number): StoreState {
  if (!bound.includes(row.number)) return 'unbound'
  if (row.error !== null || row.seen_at < now - SEEN_WITHIN_MS) return 'failing'
  if (row.closed) return 'closed'
  return row.number > 0 && row.first_seen_at > now - OPENS_AFTER_MS ? 'opening' : 'open'
}

/**
 * The stores to create a project in, in order of preference: the emptier of two open stores that are drawn at random,
 * then the other one. If no store is open, stores that no operator has closed. If every store is closed, store 0.
 *
 * @param random 0 … 1
 */
export function placesFor(
  rows: readonly StoreRow[],
  bound: readonly number[],
  now: number,
  random: () => number = Math.random,
): number[] {
  const isNew = ({ number, first_seen_at }: StoreRow) => number > 0 && first_seen_at > now - OPENS_AFTER_MS
  const there = rows.filter((row) => bound.includes(row.number) && !row.closed && !isNew(row))
  const open = there.filter((row) => storeState(row, bound, now) === 'open')
  const roomy = open.filter((row) => sizeOf(row) < ROOMY_SHARE * MAX_STORE_BYTES)
  const left = [roomy, open, there].find((some) => some.length > 0) ?? []
  const drawn: StoreRow[] = []
  while (drawn.length < 2 && left.length > 0) drawn.push(...left.splice(Math.floor(random() * left.length), 1))
  const places = drawn.sort((a, b) => sizeOf(a) - sizeOf(b)).map(({ number }) => number)
  return places.length > 0 ? places : [0]
}

const sizeOf = ({ size_bytes }: StoreRow) => size_bytes ?? 0
