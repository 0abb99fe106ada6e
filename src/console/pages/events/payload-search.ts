import { bytesInHtml, type Entry, isJson, MARKS, TOKENS, type Tree } from './payload-text'

/** The parts of a payload in which a text was found. `cut`: there are more than fit. */
export type FoundText = { tree: Tree | null; matches: number; cut: boolean }

/** Characters of a search, and of a value that is shown around what was found in it. */
export const MAX_FIND = 100
const VALUE_SHOWN = 200
const BEFORE_SHOWN = 20
/** Bytes of HTML that mark what was found in a name and in a value. */
const MARKED = 26

/** An object or a list that the walk is in. `entries`: null while nothing in it is shown. `whole`: its name matches, so all in it is shown. */
type Level = { open: '{' | '['; name: string | null; entries: Entry[] | null; whole: boolean }

/** Where a text is found in another one, in either case; -1 if it is not. */
export function indexIn(wanted: string, text: string): number {
  return text.toLowerCase().indexOf(wanted.toLowerCase())
}

/**
 * Searches names and values of JSON, as the vendor wrote them. What is shown are the values that match, those under a name that matches,
 * and the objects and lists around them.
 *
 * @param limits the bytes of HTML and the levels that the tree may have
 * @returns null if the text is not JSON
 */
export function findIn(text: string, wanted: string, limits: { bytes: number; levels: number }): FoundText | null {
  if (!isJson(text)) return null
  const root: Entry[] = []
  const above: Level[] = []
  const found = { matches: 0, cut: false }
  const has = (part: string | null) => part !== null && indexIn(wanted, part) >= 0
  let name: string | null = null
  let bytes = 0
  const show = (entry: Entry, size: number) => {
    // Before the levels are looked at: each of very many values may be below very many of them.
    if (found.cut || above.length > limits.levels) {
      found.cut = true
      return
    }
    const missing = above.filter(({ entries }) => entries === null)
    bytes += size + missing.reduce((sum, level) => sum + MARKS.branch + MARKED + bytesInHtml(level.name ?? ''), 0)
    if (bytes > limits.bytes) {
      found.cut = true
      return
    }
    let parent = root
    for (const level of above) {
      if (level.entries === null) {
        level.entries = []
        parent.push({ name: level.name, value: { open: level.open, entries: level.entries } })
      }
      parent = level.entries
    }
    parent.push(entry)
  }
  for (const [token, next] of withNext(text)) {
    if (next === ':') name = token
    else if (token === '}' || token === ']') above.pop()
    else if (token !== ',' && token !== ':') {
      const isNamed = has(name)
      const isInside = above.at(-1)?.whole ?? false
      if (token === '{' || token === '[') {
        if (isNamed) found.matches += 1
        above.push({ open: token, name, entries: null, whole: isInside || isNamed })
      } else {
        if (isNamed || has(token)) found.matches += 1
        const leaf = around(wanted, token.replace(/^([{[])\s+/, '$1'))
        if (isNamed || isInside || has(token))
          show({ name, value: { leaf } }, MARKS.leaf + MARKED + bytesInHtml(leaf + (name ?? '')))
      }
      name = null
    }
  }
  return { tree: root[0]?.value ?? null, ...found }
}

/** The tokens of JSON, each with the one after it. */
function* withNext(text: string): Generator<[token: string, next: string | null]> {
  let token: string | null = null
  for (const [next] of text.matchAll(TOKENS)) {
    if (token !== null) yield [token, next]
    token = next
  }
  if (token !== null) yield [token, null]
}

/** A value or, if it is long, the part of it in which the text was found. */
function around(wanted: string, value: string): string {
  if (value.length <= VALUE_SHOWN) return value
  const begin = Math.max(0, indexIn(wanted, value) - BEFORE_SHOWN)
  const end = begin + VALUE_SHOWN
  return `${begin > 0 ? '…' : ''}${value.slice(begin, end)}${end < value.length ? '…' : ''}`
}
