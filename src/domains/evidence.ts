import { utf8 } from '../lib/crypto'
import { MAX_EVIDENCE_BYTES, MAX_SEEN_CHARS, MAX_SEEN_VALUES } from './limits'
import { isProof } from './names'
import type { Told } from './resolve'
import type { Evidence, RecordStatus } from './schema'

/** The values of a name that can be relied on; null if there is no such answer. An empty list: there are none. */
export type KnownValues = readonly string[] | null

/**
 * What is known of a name. An answer with checked signatures is enough. Without one, two resolvers must agree. Where
 * resolvers contradict each other, nothing is known.
 */
export function knownOf(told: readonly Told[]): KnownValues {
  const usable = told.filter(({ isUsable }) => isUsable)
  const signed = usable.filter(({ authenticated }) => authenticated)
  const [counting, needed] = signed.length > 0 ? [signed, 1] : [usable, 2]
  const [first] = counting
  if (!first || counting.length < needed) return null
  return counting.every((other) => proofsOf(other) === proofsOf(first)) ? first.values : null
}

/** Other texts at the name do not matter, nor does the order. */
function proofsOf({ values }: Told): string {
  return JSON.stringify([...new Set(values.filter(isProof))].sort())
}

/** How the record of a domain stands. */
export function recordStatus(known: KnownValues, expected: string): RecordStatus {
  if (known === null) return 'unreachable'
  if (known.includes(expected)) return 'found'
  return known.length === 0 ? 'missing' : 'wrong'
}

/** What is stored of a check: as much as there is room for, the expected value and others like it first. */
export function evidenceOf(told: readonly Told[], known: KnownValues, expected: string): Evidence {
  const order = (value: string) => (value === expected ? 0 : isProof(value) ? 1 : 2)
  const resolvers = told.map(({ name, rcode, authenticated, values }) => ({
    name,
    rcode,
    authenticated,
    values: values
      .toSorted((a, b) => order(a) - order(b))
      .slice(0, MAX_SEEN_VALUES)
      .map(shown),
  }))
  const evidence = { status: recordStatus(known, expected), resolvers }
  while (utf8(JSON.stringify(evidence)).byteLength > MAX_EVIDENCE_BYTES) {
    const longest = resolvers.reduce((a, b) => (b.values.length > a.values.length ? b : a))
    if (longest.values.pop() === undefined) break
  }
  return evidence
}

/** A value for people: without characters that cannot be seen, or that change how others look. */
function shown(value: string): string {
  const cut = value.length > MAX_SEEN_CHARS ? `${value.slice(0, MAX_SEEN_CHARS - 1)}…` : value
  return cut.replaceAll(/\p{C}/gu, '\ufffd')
}
