import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/lib/crypto'
import { cutToFit } from '../../src/mcp/cut'
import { MAX_TOOL_ANSWER_BYTES } from '../../src/mcp/limits'

const sizeOf = (value: unknown) => utf8(JSON.stringify(value)).byteLength
const row = (id: number, characters = 1_000) => ({ id, text: 'x'.repeat(characters) })
const rows = (n: number, characters?: number) => Array.from({ length: n }, (_, id) => row(id, characters))

describe('an answer', () => {
  it('that fits is left as it is', () => {
    const page = { data: rows(20), has_more: true, next_cursor: 'c' }
    expect(cutToFit(page)).toEqual(page)
  })

  it('keeps whole rows, as many as fit, and says how to get the others', () => {
    const { data, cut, ...rest } = cutToFit({ data: rows(100), has_more: false, next_cursor: null }) as {
      data: object[]
      cut: object[]
    }
    expect(data.length).toBeGreaterThan(20)
    expect(data).toEqual(rows(data.length))
    expect(cut).toEqual([{ at: '/data', shown: data.length, of: 100 }])
    expect(rest).toMatchObject({ has_more: true, next_cursor: null })
    expect((rest as unknown as { note: string }).note).toContain(
      `Ask again with \`limit\` ${data.length}: that answer has a \`next_cursor\`.`,
    )
  })

  it('of one row keeps its cursor, and a part of the row', () => {
    const made = cutToFit({ data: [row(1, 100_000)], has_more: true, next_cursor: 'c' }) as Record<string, never>
    expect(made).toMatchObject({ has_more: true, next_cursor: 'c', data: [{ id: 1 }] })
    expect(made.cut).toEqual([{ at: '/data/0/text', shown: 4_000, of: 100_000 }])
  })

  it('says how to ask for less, if the tool can be asked for less', () => {
    const large = { features: Object.fromEntries(rows(999).map(({ id, text }) => [id, text])) }
    expect(cutToFit(large).note).toMatch(/see `cut`\.$/)
    expect(cutToFit(large, 'Ask for fewer `features`.').note).toMatch(/see `cut`\. Ask for fewer `features`\.$/)
  })

  it('keeps its cursor whole, and all that its own names and those of a row say, however little of it fits', () => {
    const next_cursor = 'c'.repeat(400)
    const ids = { id: 'i'.repeat(255), connection_id: 'j'.repeat(255) }
    const long = rows(30, 900).map(({ text }) => text)
    const names = Array.from({ length: 40 }, (_, n) => `name${n}`)
    const large = { ...ids, ...Object.fromEntries(names.map((name) => [name, { lists: [long, long, long] }])) }
    const made = cutToFit({ data: [large], has_more: true, next_cursor, truncated: false }) as {
      data: Record<string, { lists: string[][] }>[]
    }
    expect(made).toMatchObject({ data: [ids], has_more: true, next_cursor, truncated: false })
    expect(Object.keys(made.data[0] ?? {})).toEqual([...Object.keys(ids), ...names])
    expect(made.data[0]?.name39?.lists).toHaveLength(2) // So little does only the last step leave.
  })

  it('keeps the beginning of each long list, object and text', () => {
    const sources = rows(300, 300)
    const { features, cut } = cutToFit({ features: { seats: { allowed: true, sources } } }) as Record<string, never>
    expect(features).toMatchObject({ seats: { allowed: true, sources: sources.slice(0, 50) } })
    expect(cut).toEqual([{ at: '/features/seats/sources', shown: 50, of: 300 }])
  })

  it.each<[string, object]>([
    ['many rows', { data: rows(1_000), next_cursor: 'c' }],
    ['large rows', { data: rows(3, 50_000), next_cursor: 'c' }],
    ['rows of lists', { data: rows(50).map((one) => ({ ...one, refs: rows(50, 100) })), next_cursor: 'c' }],
    ['many names', { map: Object.fromEntries(rows(5_000, 20).map(({ id, text }) => [`a~b/${id}`, text])) }],
    ['many names of its own', Object.fromEntries(rows(5_000, 20).map(({ id, text }) => [`a~b/${id}`, text]))],
    ['long names', Object.fromEntries(rows(100).map(({ id, text }) => [text + id, { [text]: text }]))],
    ['other scripts', { data: [{ text: '漢'.repeat(50_000) }], next_cursor: null }],
    ['half of a character', { text: '😀'.repeat(50_000) }],
    ['quotation marks', { text: '"\\\\\n'.repeat(50_000) }],
    ['depth', { a: rows(9, 9).map(() => rows(99, 9).map(() => rows(99, 9))) }],
  ])('is never too large: %s', (_, answer) => {
    const made = cutToFit(answer)
    expect(sizeOf(made)).toBeLessThanOrEqual(MAX_TOOL_ANSWER_BYTES)
    expect(made.cut).not.toEqual([])
    expect(JSON.stringify(made)).not.toMatch(/\\ud[89a-f]/)
  })
})
