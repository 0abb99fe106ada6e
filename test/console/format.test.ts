import { describe, expect, it } from 'vitest'
import { hexDump, indented } from '../../src/console/pages/events/payload-text'
import { duration, inFull, money, relative } from '../../src/console/ui/format'

describe('formatting', () => {
  it('indents JSON without changing its values', () => {
    const text = '{"a":12345678901234567890,"b":[1.0,{ }],"c":"x\\u00e9, {y}: [z] \\" ","d":[]}'
    const shown = indented(text) ?? ''
    expect(shown).toContain('12345678901234567890')
    expect(shown).toContain('1.0')
    expect(shown).toContain('"x\\u00e9, {y}: [z] \\" "')
    expect(JSON.parse(shown)).toEqual(JSON.parse(text))
    expect(indented('{"a":')).toBeNull()
    expect(indented(JSON.stringify(Array(1000).fill(1)), 100)?.length).toBeLessThan(120)
  })

  it('shows bytes as a hex dump', () => {
    expect(hexDump(new Uint8Array([0, 65, 255]))).toMatch(/^000000 {2}00 41 ff +\.A\.$/)
  })

  it('shortens times, durations and amounts', () => {
    const now = Date.UTC(2026, 0, 2)
    const day = 86_400_000
    const times: [number, string][] = [
      [0, 'just now'],
      [-29_000, 'just now'],
      [-80_000, '1 min ago'],
      [-59.6 * 60_000, '1 h ago'],
      [-23.6 * 3_600_000, '1 d ago'],
      [-7_200_000, '2 h ago'],
      [-2 * day, '2 d ago'],
      [-31 * day, '2025-12-02'],
      [20_000, 'in a moment'],
      [3 * day, 'in 3 d'],
      // As long as a person looks at it, a key that was made for a week expires in a week.
      [7 * day, 'in 7 d'],
      [7 * day - 3 * 3_600_000, 'in 7 d'],
      [30 * day - 5000, 'in 30 d'],
      [90 * day, '2026-04-02'],
    ]
    expect(times.map(([ms]) => relative(now + ms, now))).toEqual(times.map(([, text]) => text))
    expect(inFull(now + 7 * day, now)).toBe('2026-01-09 00:00:00 UTC (in 7 d)')
    expect(inFull(now + 90 * day, now)).toBe('2026-04-02 00:00:00 UTC')
    expect([0.84, 120, 1300, 150_000, 10_800_000].map(duration)).toEqual([
      '0.8 ms',
      '120 ms',
      '1.3 s',
      '2.5 min',
      '3 h',
    ])
    expect(money({ value: 1900, currency: 'EUR' })).toBe('€19.00')
    expect(money({ value: 1900, currency: 'JPY' })).toBe('¥1,900')
    expect(money({ value: 1900, currency: '<b>' })).toBe('1900 <b>')
  })
})
