import { utf8 } from '../lib/crypto'
import { MAX_ANSWER_BYTES, MAX_PLACES_TOLD } from './limits'

/** A list, object or text of an answer that was shortened: its JSON Pointer, and how much of it is there. */
type Place = { at: string; shown: number; of: number }

/** How many entries each list and object keeps, and how many characters each text: step by step, until the answer fits. */
const STEPS = [
  { entries: 1_000, characters: 4_000 },
  { entries: 100, characters: 1_000 },
  { entries: 50, characters: 500 },
  { entries: 25, characters: 300 },
  { entries: 10, characters: 200 },
  { entries: 5, characters: 100 },
  { entries: 2, characters: 60 },
]

const HOW =
  'The answer was too large, so a part of it is missing: see `cut`. Ask for less: a smaller `limit`, narrower filters, or fewer features.'

/**
 * An answer that is small enough for a model to read. If something had to go, `cut` says what, and `note` how to get it. A page whose
 * rows were cut has no cursor: it would lead past the rows that are missing.
 */
export function fitting(answer: object): Record<string, unknown> {
  if (sizeOf(answer) <= MAX_ANSWER_BYTES) return { ...answer }
  for (const step of STEPS) {
    const places: Place[] = []
    const short = shortened(answer, '', step, places) as Record<string, unknown>
    const rows = places.find(({ at }) => at === '/data')
    const made = {
      ...short,
      ...(rows && { has_more: true, next_cursor: null }),
      cut: places.slice(0, MAX_PLACES_TOLD),
      note: rows ? `${HOW} With \`limit\` ${rows.shown}, there is a cursor.` : HOW,
    }
    if (sizeOf(made) <= MAX_ANSWER_BYTES) return made
  }
  return { cut: [{ at: '', shown: 0, of: 1 }], note: HOW }
}

function shortened(value: unknown, at: string, step: (typeof STEPS)[number], places: Place[]): unknown {
  if (typeof value === 'string') {
    if (value.length <= step.characters) return value
    places.push({ at, shown: step.characters, of: value.length })
    return `${value.slice(0, step.characters).toWellFormed()}…`
  }
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value)
  if (entries.length > step.entries) places.push({ at, shown: step.entries, of: entries.length })
  const kept = entries
    .slice(0, step.entries)
    .map(([key, part]) => [key, shortened(part, `${at}/${escaped(key)}`, step, places)] as const)
  return Array.isArray(value) ? kept.map(([, part]) => part) : Object.fromEntries(kept)
}

/** A name in a JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function sizeOf(value: object): number {
  return utf8(JSON.stringify(value)).byteLength
}
