import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { at, idOf, numericId } from '../../src/vendors/lib/json'
import { cents, decimal, decimalsOf, moneyIn } from '../../src/vendors/lib/money'
import { distinctIds } from '../../src/vendors/lib/read'
import { isoMillis, isoSeconds, isoTime } from '../../src/vendors/lib/time'

describe('times', () => {
  it.each([
    ['2026-03-04T05:06:07Z', '2026-03-04T05:06:07Z'],
    ['2026-03-04T05:06:07.123456Z', '2026-03-04T05:06:07.123456Z'],
    ['2026-03-04T05:06:07.9Z', '2026-03-04T05:06:07.9Z'],
    ['2026-03-04T05:06:07.100000000Z', '2026-03-04T05:06:07.100000000Z'],
    ['2026-03-04T05:06:07.123456+02:00', '2026-03-04T03:06:07.123456Z'],
    ['2026-01-01T00:30:00.5+05:30', '2025-12-31T19:00:00.5Z'],
    ['2026-12-31T23:00:00-0800', '2027-01-01T07:00:00Z'],
    ['2024-02-29t00:00:00z', '2024-02-29T00:00:00Z'],
    ['2026-03-04T05:06:07+00:00', '2026-03-04T05:06:07Z'],
  ])('%s → %s', (given, utc) => expect(isoTime(given)).toBe(utc))

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '20260101T000000Z',
    '2026-01-01T00:00:00.Z',
    ' 2026-01-01T00:00:00Z',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '',
    'now',
    0,
    null,
    undefined,
    {},
    [],
  ])('%j is not a time', (given) => expect(isoTime(given)).toBeNull())

  it('keeps the instant and every digit, at any offset (fast-check)', () => {
    const range = { min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true }
    fc.assert(
      fc.property(
        fc.date(range),
        fc.integer({ min: -1439, max: 1439 }),
        fc.stringMatching(/^\d{0,9}$/),
        (date, minutes, digits) => {
          const instant = Math.floor(date.getTime() / 1000) * 1000
          const local = new Date(instant + minutes * 60_000).toISOString().slice(0, 19)
          const offset = `${minutes < 0 ? '-' : '+'}${String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0')}:${String(Math.abs(minutes) % 60).padStart(2, '0')}`
          const fraction = digits && `.${digits}`
          expect(isoTime(`${local}${fraction}${offset}`)).toBe(
            `${new Date(instant).toISOString().slice(0, 19)}${fraction}Z`,
          )
        },
      ),
    )
  })

  it('reads seconds and milliseconds since the epoch, and no others', () => {
    expect(isoSeconds(1751000000)).toBe('2025-06-27T04:53:20Z')
    expect(isoMillis(1658726378679)).toBe('2022-07-25T05:19:38.679Z')
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1e300, 253_402_300_800_000, '1751000000', null]) {
      expect(isoSeconds(bad)).toBeNull()
      expect(isoMillis(bad)).toBeNull()
    }
  })
})

describe('amounts', () => {
  it('knows the decimals of ISO 4217, not of CLDR', () => {
    expect(['USD', 'jpy', 'KRW', 'KWD', 'BHD', 'CLF', 'ALL', 'LBP', 'HUF', 'ISK'].map(decimalsOf)).toEqual([
      2, 0, 0, 3, 3, 4, 2, 2, 2, 0,
    ])
    expect(['', 'US', 'USDC', 'U$D'].map(decimalsOf)).toEqual([null, null, null, null])
  })

  it.each([
    ['1.00', 'USD', 100],
    ['1', 'USD', 100],
    ['1.5', 'usd', 150],
    ['-1.50', 'USD', -150],
    ['0.00', 'USD', 0],
    ['-0.00', 'USD', 0],
    ['1.990000', 'USD', 199],
    ['500', 'JPY', 500],
    ['500.00', 'JPY', 500],
    ['500.10', 'JPY', null],
    ['1.234', 'KWD', 1234],
    ['1.2', 'KWD', 1200],
    ['1.2345', 'KWD', null],
    ['1.005', 'USD', null],
    [7.99, 'EUR', 799],
    [0.1, 'EUR', 10],
    [1e21, 'EUR', null],
    [1e-7, 'EUR', null],
    [Number.NaN, 'EUR', null],
    ['90071992547409.92', 'USD', null],
    ['90071992547409.91', 'USD', 9007199254740991],
    ['', 'USD', null],
    ['1,50', 'USD', null],
    ['.5', 'USD', null],
    ['1.', 'USD', null],
    ['1.00', 'DOLLARS', null],
    ['1.00', null, null],
    [null, 'USD', null],
    [{}, 'USD', null],
  ])('%j %s is %j in minor units', (value, currency, minor) => {
    expect(decimal(value, currency)).toEqual(
      minor === null ? null : { value: minor, currency: String(currency).toUpperCase() },
    )
  })

  it('converts to a decimal and back to the same minor units (fast-check)', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'), (minor, currency) => {
        const digits = decimalsOf(currency) as number
        const text = String(Math.abs(minor)).padStart(digits + 1, '0')
        const major = `${minor < 0 ? '-' : ''}${text.slice(0, text.length - digits)}${digits ? `.${text.slice(-digits)}` : ''}`
        expect(decimal(major, currency)).toEqual({ value: minor, currency })
      }),
    )
  })

  it('takes minor units as they are, and "cents" where they are certain', () => {
    expect(moneyIn('4351', 'usd')).toEqual({ value: 4351, currency: 'USD' })
    expect(moneyIn('-0', 'usd')).toEqual({ value: 0, currency: 'USD' })
    for (const bad of ['1.5', '', '9007199254740993', 1.5, null]) expect(moneyIn(bad, 'usd')).toBeNull()
    expect(moneyIn(1, '')).toBeNull()
    expect(cents(100, 'EUR')).toEqual({ value: 100, currency: 'EUR' })
    expect(cents(100, 'JPY')).toBeNull()
    expect(cents(100, 'JPY', [0, 2])).toEqual({ value: 100, currency: 'JPY' })
    expect(cents(100, 'nowhere')).toBeNull()
  })
})

describe('fields', () => {
  it('reads paths and ids of any type', () => {
    expect(at({ a: [{ b: 1 }] }, 'a', 0, 'b')).toBe(1)
    for (const end of [null, 1, 'x', undefined]) expect(at({ a: end }, 'a', 'b')).toBeUndefined()
    expect([idOf('x'), idOf({ id: 'x' }), idOf({ id: 1 }), idOf('')]).toEqual(['x', 'x', null, null])
    expect([numericId(7), numericId('7'), numericId(2 ** 53), numericId(1.5), numericId(null)]).toEqual([
      '7',
      '7',
      null,
      null,
      null,
    ])
    expect(distinctIds('a', null, 'b', 'a', ...'cdefghij')).toEqual([...'abcdefgh'])
  })
})
