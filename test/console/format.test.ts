import { describe, expect, it } from 'vitest'
import { hexDump, indented } from '../../src/console/pages/events/payload-text'
import { duration, inFull, money, relative, words } from '../../src/console/ui/format'
import { listChanges } from '../../src/console/ui/list-changes'

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

describe('the items of a subscription', () => {
  const item = (price: string | null, more: object = {}) => ({ id: 'si_1', price, quantity: 2, ...more })
  const pro = { price_name: 'Pro, monthly', lookup_key: 'pro_monthly' }

  it.each([
    ['the name of the price', item('price_1', pro), '2 × Pro, monthly'],
    ['its key', item('price_1', { price_name: null, lookup_key: 'pro_monthly' }), '2 × pro_monthly'],
    ['its id', item('price_1', { price_name: null, lookup_key: null }), '2 × price_1'],
    ['its id, where nothing else is stored', item('price_1'), '2 × price_1'],
    ['nothing', item(null), '2 × ?'],
  ])('are said with %s', (_, value, said) => {
    expect(words([value])).toBe(said)
  })

  it.each([
    ['another price', [item('price_1', pro)], [item('price_2', { price_name: 'Team' })], '2 × Pro, monthly → 2 × Team'],
    ['a price without a name', [item('price_1', pro)], [item('price_2')], '2 × Pro, monthly → 2 × price_2'],
    [
      'another quantity',
      [item('price_1', pro)],
      [item('price_1', { ...pro, quantity: 3 })],
      '2 × Pro, monthly → 3 × Pro, monthly',
    ],
    ['another price with the same name', [item('price_1', pro)], [item('price_2', pro)], '2 × price_1 → 2 × price_2'],
    [
      'an item in place of another, whose price has the same name',
      [item('price_1', pro)],
      [item('price_2', { ...pro, id: 'si_2' }), item('price_3', { id: 'si_3', price_name: 'Seats' })],
      '2 × price_1 → removed; 2 × price_2; 2 × Seats',
    ],
    [
      'another name, which the price of another item has',
      [item('price_1', pro), item('price_2', { id: 'si_2', price_name: 'Max' })],
      [item('price_1', { ...pro, price_name: 'Max' }), item('price_2', { id: 'si_2', price_name: 'Max' })],
      'Price name Pro, monthly → Price name Max',
    ],
    [
      'another name',
      [item('price_1', pro)],
      [item('price_1', { ...pro, price_name: 'Max' })],
      'Price name Pro, monthly → Price name Max',
    ],
  ])('change to %s', (_, from, to, said) => {
    expect(listChanges(from, to, 'usd')).toBe(said)
  })

  const shift = { current_period_end: { from: 'a', to: 'b' } }
  it.each([
    ['left out if the subscription says it', shift, {}, null],
    ['said if the subscription does not', {}, {}, 'Current period end a → Current period end b'],
    [
      'said if that of the subscription is another',
      { current_period_end: { from: 'a', to: 'c' } },
      {},
      'Current period end a → Current period end b',
    ],
    ['left out beside a quantity too', shift, { quantity: 3 }, '2 × price_1 → 3 × price_1'],
  ])('have a period that is %s', (_, beside, more, said) => {
    const [from, to] = [
      item('price_1', { current_period_end: 'a' }),
      item('price_1', { current_period_end: 'b', ...more }),
    ]
    expect(listChanges([from], [to], null, beside)).toBe(said)
  })
})
