import type { Snapshot } from '../vendors/snapshot'

/**
 * Which event speaks for an object. The state of an object is a function of the set of its events: in any order, with
 * any repetition, any replay, the same. What a row keeps of that set is enough to go on from: the events of the highest
 * rank, and those of the rank below, which can tell the order among the highest. Merging is therefore commutative,
 * associative and idempotent, and two workers that merge into the same row need only take turns.
 */

/** One event of an object, as its row keeps it. */
export type Candidate = {
  rank: string
  vendor_event_id: string
  event_id: string
  /** Digests of the vendor's object before (null: not told) and after the event. */
  before: string | null
  after: string
  /** Null in the rank below: it will never be shown. */
  body: Snapshot['body'] | null
}

/** `candidates`: the one that speaks for the object first, then those tied with it, then those of the rank below. */
export type Resolved = { candidates: Candidate[]; ambiguous: boolean }

/** Events of one rank that are kept; so many in one instant are reported as ambiguous. */
export const MAX_TIED = 16

/** One comparable text: final states first, then the vendor's times to the nanosecond, then what happened. */
export function rankOf({ terminal, occurred_at, updated_at, step }: Snapshot): string {
  return [terminal ? 1 : 0, nanoseconds(occurred_at), nanoseconds(updated_at), step].join('|')
}

/** A JS Date would lose microseconds, and bare texts sort `.9Z` after `.95Z`. */
function nanoseconds(iso: string | null): string {
  const [seconds = '', fraction = ''] = (iso ?? '0000-00-00T00:00:00').replace('Z', '').split('.')
  return `${seconds}.${fraction.padEnd(9, '0').slice(0, 9)}`
}

/** An object's events with one more. */
export function merge(known: readonly Candidate[], added: Candidate): Resolved {
  const all = [...known]
  const twin = all.findIndex((one) => sameEvent(one, added))
  if (twin < 0) all.push(added)
  else if (added.event_id < (all[twin]?.event_id ?? '')) all[twin] = { ...added, body: all[twin]?.body ?? added.body }
  const [highest, below] = [...new Set(all.map(({ rank }) => rank))].sort().reverse()
  const top = latestFirst(all.filter(({ rank }) => rank === highest)).slice(0, MAX_TIED)
  const anchors = latestFirst(all.filter(({ rank }) => rank === below)).slice(0, MAX_TIED)
  const last = top.length < MAX_TIED ? lastOf(top, anchors) : null
  const winner = last ?? (top[0] as Candidate)
  return {
    candidates: [
      winner,
      ...top.filter((one) => one !== winner),
      ...anchors.map((one) => ({ ...one, before: null, body: null })),
    ],
    ambiguous: last === null,
  }
}

/** One vendor event may be recorded twice: by the connection of before and by the one made anew. */
function sameEvent(a: Candidate, b: Candidate): boolean {
  return a.vendor_event_id === b.vendor_event_id && a.rank === b.rank && a.after === b.after
}

/** A fixed order, and the last resort of a tie: by the vendor's event id, the greatest first. */
function latestFirst(candidates: Candidate[]): Candidate[] {
  const key = ({ vendor_event_id, after }: Candidate) => `${vendor_event_id} ${after}`
  return candidates.sort((a, b) => (key(a) < key(b) ? 1 : -1))
}

/**
 * The last one of tied events, told by what each says of the state before it. Of all the orders in which every event
 * that tells what was before finds just that, beginning where the rank below ended: the state that they all end in.
 *
 * @returns null where they end differently, or there is no such order
 */
function lastOf(top: readonly Candidate[], anchors: readonly Candidate[]): Candidate | null {
  if (new Set(top.map(({ after }) => after)).size === 1) return top[0] as Candidate
  if (top.length > MAX_ORDERED) return null
  const begun = endsOf(top, [...new Set(anchors.map(({ after }) => after))])
  // Where no order begins there, an event between has not come, or never will: the events alone may still tell.
  const ends = begun.size > 0 ? begun : endsOf(top, [null])
  const [end] = ends
  return ends.size === 1 ? (top.find(({ after }) => after === end) ?? null) : null
}

/** So many tied events are put in order; each one more doubles the work. */
const MAX_ORDERED = 10

/** The states that the events can end in, each taken once, from one of these states; null is any state. */
function endsOf(top: readonly Candidate[], starts: readonly (string | null)[]): Set<string> {
  const all = 2 ** top.length - 1
  const ends = new Set<string>()
  const seen = new Set<string>()
  const walk = (taken: number, state: string | null): void => {
    const place = `${taken} ${state}`
    if (seen.has(place)) return
    seen.add(place)
    if (taken === all && state !== null) ends.add(state)
    for (const [index, { before, after }] of top.entries()) {
      const fits = before === null || state === null || before === state
      if (fits && (taken & (1 << index)) === 0) walk(taken | (1 << index), after)
    }
  }
  for (const start of starts) walk(0, start)
  return ends
}
