/** A value that differs. `path`: `items.data[0].quantity`. `from`, `to`: as JSON; null if it is null or not there. */
export type JsonDifference = { path: string; from: string | null; to: string | null }

/** Levels that are compared value by value. Deeper ones are compared as a whole. */
const LEVELS = 20

/**
 * The values in which two JSON values differ. A value that is not there and one that is null are the same.
 *
 * @param isPart whether `before` has only those fields that changed. A list in it is whole
 */
export function jsonDifferences(before: unknown, after: unknown, isPart = false): JsonDifference[] {
  return [...walk({ from: before, to: after, path: '', isPart }, 0)]
}

type Pair = { from: unknown; to: unknown; path: string; isPart: boolean }

function* walk({ from, to, path, isPart }: Pair, level: number): Generator<JsonDifference> {
  const names = level < LEVELS ? commonNames(from, to, isPart) : null
  if (names) {
    const isList = Array.isArray(from)
    const under = (name: string) => (isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`)
    for (const name of names)
      yield* walk({ from: own(from, name), to: own(to, name), path: under(name), isPart: isPart && !isList }, level + 1)
    return
  }
  const [was, is] = [textOf(from), textOf(to)]
  if (was !== is) yield { path, from: was, to: is }
}

/** The names to compare one by one: of two objects, or of two lists of the same length; null if the values are compared as a whole. */
function commonNames(from: unknown, to: unknown, part: boolean): string[] | null {
  if (!isBranch(from) || !isBranch(to) || Array.isArray(from) !== Array.isArray(to)) return null
  const names = Object.keys(from)
  if (Array.isArray(from)) return names.length === Object.keys(to).length ? names : null
  return part ? names : [...new Set([...names, ...Object.keys(to)])]
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

function own(value: unknown, name: string): unknown {
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined
}

/** @throws RangeError for a value that is nested too deeply to be written */
function textOf(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}
