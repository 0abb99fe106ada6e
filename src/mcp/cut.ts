import { utf8 } from '../lib/crypto'
import { MAX_PLACES_TOLD, MAX_TOOL_ANSWER_BYTES } from './limits'

/** A list, object or text of an answer that was shortened: its JSON Pointer, and how much of it is there. */
type Place = { at: string; shown: number; of: number }

/** How many entries each list and map keeps, and how many characters each text: step by step, until the answer fits. */
const STEPS = [
  { entries: 1_000, characters: 4_000 },
  { entries: 100, characters: 1_000 },
  { entries: 50, characters: 500 },
  { entries: 25, characters: 300 },
  { entries: 10, characters: 200 },
  { entries: 5, characters: 100 },
  { entries: 2, characters: 60 },
]

/** Bytes for what is said about the rows that are missing. */
const ROOM_TO_SAY = 1024

/** Names that each map keeps. An object below a row that has fixed names has no more of them, so it keeps them all. */
const MIN_NAMES = 25

/** Characters of an id, which is of no use without its end. */
const MAX_ID = 255

const TOO_LARGE = 'The answer was too large, so a part of it is missing: see `cut`.'

/**
 * An answer that is small enough for a model to read. A list keeps as many whole rows as fit. If something had to go, `cut` says what,
 * and `note` how to get it. What has fixed names keeps them all: the answer itself, and each row.
 *
 * @param less how to ask for less, as a sentence; null if the arguments do not allow that
 */
export function cutToFit(answer: object, less: string | null = null): Record<string, unknown> {
  if (fits(answer)) return { ...answer }
  const places: Place[] = []
  const page = fewerRows({ ...answer }, places)
  const again = places[0] && `Ask again with \`limit\` ${places[0].shown}: that answer has a \`next_cursor\`.`
  const note = [TOO_LARGE, again, less].filter((part) => part).join(' ')
  const made = { ...page, cut: [...places], note }
  if (fits(made)) return made
  for (const step of STEPS) {
    const more = [...places]
    const short = shortened(page, { at: '', isRecord: true }, step, more) as object
    const shorter = { ...short, cut: more.slice(0, MAX_PLACES_TOLD), note }
    if (fits(shorter)) return shorter
  }
  return { cut: [{ at: '', shown: 0, of: 1 }], note }
}

/** A page with only the rows that fit. It then has no cursor, because a cursor would skip the missing rows. */
function fewerRows(page: Record<string, unknown>, places: Place[]): Record<string, unknown> {
  const { data } = page
  if (!Array.isArray(data) || !('next_cursor' in page)) return page
  let bytes = ROOM_TO_SAY
  const fit = data.findIndex((row) => {
    bytes += sizeOf(row) + 1
    return bytes > MAX_TOOL_ANSWER_BYTES
  })
  const shown = Math.max(fit, 1)
  if (fit < 0 || shown === data.length) return page
  places.push({ at: '/data', shown, of: data.length })
  return { ...page, data: data.slice(0, shown), has_more: true, next_cursor: null }
}

/** Where a value is, and whether it is an object whose names are fixed. */
type Spot = { at: string; name?: string; isRecord: boolean }

function shortened(value: unknown, spot: Spot, step: (typeof STEPS)[number], places: Place[]): unknown {
  const { at } = spot
  if (typeof value === 'string') {
    if (value.length <= step.characters || isWhole(spot, value)) return value
    places.push({ at, shown: step.characters, of: value.length })
    return `${value.slice(0, step.characters).toWellFormed()}…`
  }
  if (value === null || typeof value !== 'object') return value
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  const most = isList ? step.entries : spot.isRecord ? Number.POSITIVE_INFINITY : Math.max(step.entries, MIN_NAMES)
  if (entries.length > most) places.push({ at, shown: most, of: entries.length })
  const kept = entries.slice(0, most).map(([name, part]) => {
    const inside = { at: `${at}/${escaped(name)}`, name, isRecord: isList }
    return [name, shortened(part, inside, step, places)] as const
  })
  return isList ? kept.map(([, part]) => part) : Object.fromEntries(kept)
}

/** Whether a text is useless when it is cut: a cursor, which this service made, or an id. */
function isWhole({ at, name = '' }: Spot, text: string): boolean {
  return at === '/next_cursor' || (/^(id|.*_id)$/.test(name) && text.length <= MAX_ID)
}

/** A name in a JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function fits(value: object): boolean {
  return sizeOf(value) <= MAX_TOOL_ANSWER_BYTES
}

function sizeOf(value: unknown): number {
  return utf8(JSON.stringify(value)).byteLength
}
