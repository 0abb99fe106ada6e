import type { Snapshot } from './snapshot'

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
 * The last one of tied events, told by what each says of the state before it: an event is a step from one state to
 * another, and their order is a walk that takes every step once. Where such a walk ends is told by the steps alone,
 * unless it comes back to where it began: that it began there, the rank below must say.
 *
 * @returns null where the steps make no one walk
 */
function lastOf(top: readonly Candidate[], anchors: readonly Candidate[]): Candidate | null {
  if (new Set(top.map(({ after }) => after)).size === 1) return top[0] as Candidate
  const steps = top.filter((one): one is Candidate & { before: string } => one.before !== null)
  const states = new Set(steps.flatMap(({ before, after }) => [before, after]))
  // An event that does not tell what was before adds nothing to steps that pass its state, and else cannot be placed.
  if (top.some(({ before, after }) => before === null && !states.has(after))) return null
  if (!connected(steps, states)) return null
  const end = endOf(steps, states, anchors)
  return top.find(({ after }) => after === end) ?? null
}

function endOf(
  steps: readonly { before: string; after: string }[],
  states: ReadonlySet<string>,
  anchors: readonly Candidate[],
): string | null {
  const surplus = new Map([...states].map((state) => [state, 0]))
  for (const { before, after } of steps) {
    surplus.set(before, (surplus.get(before) ?? 0) - 1)
    surplus.set(after, (surplus.get(after) ?? 0) + 1)
  }
  const uneven = [...surplus].filter(([, n]) => n !== 0)
  if (uneven.length === 0) {
    const began = new Set(anchors.map(({ after }) => after).filter((state) => states.has(state)))
    return began.size === 1 ? ([...began][0] as string) : null
  }
  const isWalk = uneven.length === 2 && uneven.every(([, n]) => Math.abs(n) === 1)
  return isWalk ? (uneven.find(([, n]) => n === 1)?.[0] ?? null) : null
}

/** Whether the steps hang together: apart, they are two walks, and nothing tells which came last. */
function connected(steps: readonly { before: string; after: string }[], states: ReadonlySet<string>): boolean {
  const [first] = states
  const reached = new Set([first])
  for (let grew = true; grew; ) {
    grew = false
    for (const { before, after } of steps) {
      if (reached.has(before) === reached.has(after)) continue
      reached.add(before).add(after)
      grew = true
    }
  }
  return reached.size === states.size
}
