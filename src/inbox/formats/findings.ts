import { idTime } from '../../lib/ids'
import type { StateKind } from '../../vendors/kinds'
import { MAX_UNKNOWN_WORDS, VANISHED, WORDS_TOLD_FOR } from './limits'
import { FIELDS, SHOWN_KINDS } from './parsed'
import type { FormatRow } from './schema'
import { weekOf } from './weeks'

/** States that are counted together: all states of a version, or of one week of it. `week`: null for all weeks. */
export type CountedStates = { api_version: string; week: number | null; events: number; fields: Record<string, number> }

/** A field that earlier states had, and new states do not have. */
export type Vanished = { kind: StateKind; field: string; before: CountedStates; after: CountedStates }
/** A word that we do not know, and how many states had it in recent weeks. */
export type UnknownWord = { kind: StateKind; field: string; word: string; api_version: string; states: number }
/** A version of the vendor's API that a connection sends. */
export type Version = { api_version: string; first_event: string; last_event: string; events: number; weeks: number[] }

/** The versions of a connection, the most recently seen first. */
export function versionsOf(rows: readonly FormatRow[]): Version[] {
  const versions = [...Map.groupBy(rows, (row) => row.api_version)].map(([api_version, own]) => ({
    api_version,
    first_event: own.reduce((first, { first_event }) => (first_event < first ? first_event : first), '~'),
    last_event: own.reduce((last, { last_event }) => (last_event > last ? last_event : last), ''),
    events: own.reduce((sum, { events }) => sum + events, 0),
    weeks: [...new Set(own.map(({ week }) => week))].sort((a, b) => a - b),
  }))
  return versions.sort((a, b) => (a.first_event < b.first_event ? 1 : -1))
}

/** Rows counted together. */
export function sumOf(rows: readonly FormatRow[], api_version: string, week: number | null = null): CountedStates {
  const sum: CountedStates = { api_version, week, events: 0, fields: {} }
  for (const row of rows) {
    if (row.api_version !== api_version || (week !== null && row.week !== week)) continue
    sum.events += row.events
    for (const [name, n] of Object.entries(row.fields)) sum.fields[name] = (sum.fields[name] ?? 0) + n
  }
  return sum
}

/**
 * The fields of a connection that have vanished. The version that came last is compared with each earlier one, and the last week of
 * each version that has enough states with each earlier week of it.
 */
export function vanishedIn(rows: readonly FormatRow[]): Vanished[] {
  return SHOWN_KINDS.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind)
    const [last, ...earlier] = versionsOf(own)
    if (!last) return []
    const byVersion = earlier.map(({ api_version }) => sumOf(own, api_version))
    const pairs = [{ after: sumOf(own, last.api_version), before: byVersion }, ...weeksIn(own)]
    const found = pairs.flatMap(({ before, after }) =>
      after.events < VANISHED.after ? [] : FIELDS[kind].flatMap((field) => vanished(kind, field, before, after)),
    )
    // Findings between versions come first.
    return [...new Map(found.toReversed().map((one) => [one.field, one])).values()].reverse()
  })
}

/** For each version: its last week with enough states, and the earlier weeks. */
function weeksIn(rows: readonly FormatRow[]): { before: CountedStates[]; after: CountedStates }[] {
  return versionsOf(rows).flatMap(({ api_version, weeks }) => {
    const sums = weeks.map((week) => sumOf(rows, api_version, week))
    const at = sums.findLastIndex(({ events }) => events >= VANISHED.after)
    const after = sums[at]
    return after ? [{ before: sums.slice(0, at), after }] : []
  })
}

function vanished(kind: StateKind, field: string, earlier: readonly CountedStates[], after: CountedStates): Vanished[] {
  if ((after.fields[field] ?? 0) > 0) return []
  const before = earlier.find(
    ({ events, fields }) => events >= VANISHED.before && (fields[field] ?? 0) >= VANISHED.share * events,
  )
  return before ? [{ kind, field, before, after }] : []
}

/** The unknown words of recent weeks, the most frequent first. */
export function unknownWordsOf(rows: readonly FormatRow[], now: number): UnknownWord[] {
  const since = weekOf(now) - WORDS_TOLD_FOR + 1
  const words = new Map<string, UnknownWord>()
  for (const { kind, week, api_version, words: own } of rows) {
    if (week < since) continue
    for (const [name, n] of Object.entries(own)) {
      const at = name.indexOf(':')
      const [field, word] = [name.slice(0, at), name.slice(at + 1)]
      const known = words.get(`${kind} ${name}`) ?? { kind, field, word, api_version, states: 0 }
      words.set(`${kind} ${name}`, { ...known, states: known.states + n })
    }
  }
  return [...words.values()].sort((a, b) => b.states - a.states).slice(0, MAX_UNKNOWN_WORDS)
}

/** The most recently seen version, if the connection sent another one before; else null. */
export function newVersionOf(rows: readonly FormatRow[]): { version: Version; before: Version; since: number } | null {
  const [version, before] = versionsOf(rows)
  return version && before ? { version, before, since: idTime(version.first_event) } : null
}
