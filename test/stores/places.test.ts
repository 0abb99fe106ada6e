import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/time'
import { MAX_STORE_BYTES, OPENS_AFTER_MS, SEEN_WITHIN_MS } from '../../src/stores/limits'
import { placesFor, type StoreState, storeState } from '../../src/stores/places'
import type { StoreRow } from '../../src/stores/store'

const NOW = Date.parse('2026-01-01T12:00:00Z')
const row = (number: number, fields: Partial<StoreRow> = {}): StoreRow => ({
  number,
  first_seen_at: 0,
  seen_at: NOW - MINUTE,
  error: null,
  size_bytes: 1000 * (number + 1),
  migration: null,
  sealed_under: null,
  closed: false,
  ...fields,
})
const HALF = MAX_STORE_BYTES / 2

it.each<[StoreState, Partial<StoreRow>, number[]]>([
  ['open', {}, [0, 1]],
  ['unbound', {}, [0]],
  ['failing', { error: 'Fault: database_unavailable' }, [0, 1]],
  ['failing', { seen_at: NOW - SEEN_WITHIN_MS - 1 }, [0, 1]],
  ['open', { seen_at: NOW - SEEN_WITHIN_MS }, [0, 1]],
  ['closed', { closed: true }, [0, 1]],
  ['opening', { first_seen_at: NOW - OPENS_AFTER_MS + 1 }, [0, 1]],
  ['open', { first_seen_at: NOW - OPENS_AFTER_MS }, [0, 1]],
])('a store is %s with %j, where %j are bound', (state, fields, bound) => {
  expect(storeState(row(1, fields), bound, NOW)).toBe(state)
})

it('store 0 is open from the start', () => {
  expect(storeState(row(0, { first_seen_at: NOW }), [0], NOW)).toBe('open')
})

describe('a new project goes', () => {
  const all = [0, 1, 2, 3]
  /** Every place that some draw gives. */
  const drawn = (rows: StoreRow[], bound = all) => {
    const places = new Set<string>()
    for (const a of [0, 0.3, 0.6, 0.99])
      for (const b of [0, 0.3, 0.6, 0.99]) {
        const draws = [a, b]
        places.add(placesFor(rows, bound, NOW, () => draws.shift() ?? 0).join())
      }
    return [...places].sort()
  }

  it.each<[string, StoreRow[], string[]]>([
    ['to store 0 while nothing was seen', [], ['0']],
    ['to the emptier of two drawn ones, else to the other', [row(0), row(1), row(2)], ['0,1', '0,2', '1,2']],
    ['to the one that is open', [row(0, { closed: true }), row(1), row(2, { error: 'out' })], ['1']],
    ['past those that are half full', [row(0, { size_bytes: HALF }), row(1, { size_bytes: HALF - 1 })], ['1']],
    [
      'to one that is half full where all are',
      [row(0, { size_bytes: HALF }), row(1, { size_bytes: HALF + 1 })],
      ['0,1'],
    ],
    ['to one that fails, where the others are closed', [row(0, { closed: true }), row(1, { error: 'out' })], ['1']],
    ['to store 0 where all are closed', [row(0, { closed: true }), row(1, { closed: true })], ['0']],
  ])('%s', (_, rows, places) => {
    expect(drawn(rows)).toEqual(places)
  })

  it('only to stores that this isolate has', () => {
    expect(drawn([row(0), row(1), row(2)], [0, 2])).toEqual(['0,2'])
  })
})
