import { expect, it } from 'vitest'
import { endOfLasting, LASTS } from '../../src/catalog/lasting'

it.each([
  ['2026-01-31T10:00:00Z', 'P1M', '2026-02-28T10:00:00.000Z'],
  ['2028-02-29T10:00:00Z', 'P1Y', '2029-02-28T10:00:00.000Z'],
  ['2026-01-31T23:59:59Z', 'P30D', '2026-03-02T23:59:59.000Z'],
  ['2026-11-30T00:00:00Z', 'P3M', '2027-02-28T00:00:00.000Z'],
  ['2026-05-15T00:00:00Z', 'P6M', '2026-11-15T00:00:00.000Z'],
])('from %s, %s lasts until %s', (from, lasts, until) => {
  expect(new Date(endOfLasting(Date.parse(from), lasts) ?? 0).toISOString()).toBe(until)
})

it('what would end after the year 9999 never ends', () => {
  const from = Date.parse('2026-11-27T00:00:00Z')
  for (const lasts of ['P9999Y', 'P7974Y']) expect([lasts, endOfLasting(from, lasts)]).toEqual([lasts, null])
  expect(endOfLasting(from, 'P7973Y')).toBe(Date.parse('9999-11-27T00:00:00Z'))
})

it('forever has no end; no other words are taken', () => {
  expect(endOfLasting(0, 'forever')).toBeNull()
  for (const word of ['P0D', 'P1W', 'P', '1D', 'P1DT1H', 'forever ', 'P99999D', ''])
    expect(LASTS.test(word)).toBe(false)
})
