import { EVENT_STEPS, type Snapshot } from '../vendors/snapshot'
import { MAX_ORDERED, MAX_TIED } from './limits'

/*
 * Which event or fetch determines the state of an object. The state is a function of the set of the object's events and
 * fetches: their order, repetitions and replays change nothing. A row keeps what is needed of that set: the events of the
 * highest rank and of the rank below, which can tell the order among the highest, and the fetch of the highest rank.
 * Merging is therefore commutative, associative and idempotent, and two workers that merge into the same row only have to
 * take turns.
 */

/** An event or a fetch of an object, as the object's row keeps it. */
export type Candidate = {
  /** Of a purchase only: the part that the event describes. The first candidate is made of all parts, and has none: see purchases/parts.ts. */
  part?: string
  rank: string
  vendor_event_id: string
  event_id: string
  /** Digests of the vendor's object before the event (null if the vendor does not say) and after it. */
  before: string | null
  after: string
  /** Null for an event of the rank below, and for every event or fetch that lost to one of the other sort: never shown. */
  body: StoredBody | null
  /** Of a purchase whose sale is not known: the money that came back, which the invoice with this id shows. */
  money?: StoredBody
  /** Whether a list of the object was cut off. */
  incomplete?: true
  /** Whether it reports a change that another event of the same instant makes, where there is one. */
  reports?: true
  /** Of a fetch only: the latest time at which the vendor can have read the object, in the form of {@link nanoseconds}. */
  until?: string
}

/** What is stored of an object: its fields that are not null, with the version of this form: see body.ts. */
export type StoredBody = {
  readonly [field: string]: unknown
  readonly status: string
  readonly customer?: string
  /** Whether the customer was erased: see forget.ts. */
  readonly erased?: boolean
}

/**
 * `candidates`: the winner, the events tied with it, and the events of the rank below. A fetch is first, where it wins over
 * all of them, or last.
 */
export type ResolvedState = { candidates: Candidate[]; ambiguous: boolean }

/**
 * A string to compare by: final states rank highest, then the vendor's times to the nanosecond, then the step. A fetch has
 * the time of its read, and a fifth part, its number among the fetches above the same event or time.
 *
 * States with a version rank by it, between final states and those that only have times. The times of their events are left out: an
 * event may carry an old object, such as a reminder, so a later event of the same version decides nothing.
 */
export function eventRank({ terminal, version, occurred_at, updated_at, step, read }: Snapshot): string {
  if (typeof version === 'number')
    return [
      `${VERSIONED}${String(version).padStart(VERSION_DIGITS, '0')}`,
      nanoseconds(null),
      nanoseconds(null),
      step,
    ].join('|')
  const rankOf = (time: string | null, last: number) =>
    [terminal ? 1 : 0, nanoseconds(time), nanoseconds(updated_at), last].join('|')
  if (!read) return rankOf(occurred_at, step)
  // A read is no step of the object: every step at its very time may have come after it.
  const own = rankOf(read.at, EVENT_STEPS.created)
  const over = partsOf(read.over ?? '')
  const isOver = over.event[0] === own[0] && over.event >= own
  return `${isOver ? over.event : own}|${String(isOver ? over.number + 1 : 1).padStart(6, '0')}`
}

/** What a rank with a version begins with. `~` sorts after the `|` that follows the 0 of a state without a version, and before the 1 of a final one. */
const VERSIONED = '0~'
/** Digits of the greatest safe integer. */
const VERSION_DIGITS = 16

/** Whether a rank is that of a state with a version. */
export function isVersioned(rank: string): boolean {
  return rank.startsWith(VERSIONED)
}

/** The rank of the event, or of the time, that a rank is about; and the number of the fetch above that, 0 for an event. */
function partsOf(rank: string): { event: string; number: number } {
  const parts = rank.split('|')
  return { event: parts.slice(0, 4).join('|'), number: Number(parts[4] ?? 0) }
}

/** A JS Date would lose microseconds, and as plain strings `.9Z` sorts after `.95Z`. */
export function nanoseconds(iso: string | null): string {
  const [seconds = '', fraction = ''] = (iso ?? '0000-00-00T00:00:00').replace('Z', '').split('.')
  return `${seconds}.${fraction.padEnd(9, '0').slice(0, 9)}`
}

/**
 * Adds an event or a fetch to those of an object. Events are merged among themselves, so a fetch never tells the order of
 * tied events. Of the fetches only the highest counts: it wins, or it may dispute what the winner says.
 */
export function mergedState(known: readonly Candidate[], added: Candidate): ResolvedState {
  const fetched = highestFetch(known.find(isFetch), added)
  const events = known.filter((one) => !isFetch(one))
  const event = isFetch(added) ? events[0] : added
  const merged = event ? mergedEvents(events, event) : { candidates: [], ambiguous: false }
  if (!fetched) return merged
  const [winner] = merged.candidates
  const doubt = isDoubtful(fetched, merged.candidates)
  if (winner && winner.rank > fetched.rank)
    return { candidates: [...merged.candidates, { ...fetched, body: null }], ambiguous: merged.ambiguous || doubt }
  return { candidates: [fetched, ...merged.candidates.map((one) => ({ ...one, body: null }))], ambiguous: doubt }
}

const isFetch = ({ until }: Candidate) => until !== undefined

/** @param known the only fetch that the row keeps */
function highestFetch(known: Candidate | undefined, added: Candidate): Candidate | undefined {
  if (!isFetch(added) || !known) return isFetch(added) ? added : known
  const placeOf = ({ rank, after, event_id }: Candidate) => `${rank} ${after} ${event_id}`
  // The same one is decoded again, perhaps by a version that keeps more of it.
  return added.event_id === known.event_id || placeOf(added) > placeOf(known) ? added : known
}

/**
 * Whether a fetch and the events contradict each other, so that the vendor must be asked again. A fetch that lost may
 * nevertheless be the later one, if it shows neither what the winner made nor what it found. An event of the rank right
 * below a fetch that won may have come later than the read, if it begins where the fetch ends.
 */
function isDoubtful({ rank, until = '', after }: Candidate, events: readonly Candidate[]): boolean {
  const [winner] = events
  if (winner && winner.rank > rank)
    return until >= (winner.rank.split('|')[1] ?? '') && after !== winner.after && after !== winner.before
  const over = partsOf(rank).event
  return events.some((one) => one.rank === over && one.before === after && one.after !== after)
}

/** Adds an event to an object's events. */
function mergedEvents(known: readonly Candidate[], added: Candidate): ResolvedState {
  const all = [...known]
  const twin = all.findIndex((one) => sameEvent(one, added))
  if (twin < 0) all.push(added)
  // Decoded again, perhaps by a version that keeps more of it.
  else if (added.event_id === all[twin]?.event_id) all[twin] = added
  else if (added.event_id < (all[twin]?.event_id ?? '')) all[twin] = { ...added, body: all[twin]?.body ?? added.body }
  const [highest, below] = [...new Set(all.map(({ rank }) => rank))].sort().reverse()
  const rankedAt = (at?: string) => withoutTwins(latestFirst(all.filter(({ rank }) => rank === at))).slice(0, MAX_TIED)
  const top = rankedAt(highest)
  const anchors = rankedAt(below)
  const last = top.length < MAX_TIED ? lastOf(top, anchors) : null
  const winner = last ?? (top[0] as Candidate)
  return {
    candidates: [
      winner,
      ...top.filter((one) => one !== winner),
      ...anchors.map(({ incomplete: _, reports: __, ...one }) => ({ ...one, before: null, body: null })),
    ],
    ambiguous: last === null,
  }
}

/** A vendor's event may be recorded twice: by an earlier connection, and by the one that replaced it. */
function sameEvent(a: Candidate, b: Candidate): boolean {
  if (a.event_id === b.event_id) return true
  return a.vendor_event_id === b.vendor_event_id && a.rank === b.rank && a.after === b.after
}

/**
 * Of events with the same version and the same content, the first one: they are one state of the object. A vendor may send an object
 * that does not change with hundreds of events.
 */
function withoutTwins(candidates: readonly Candidate[]): Candidate[] {
  const isFirst = ({ rank, after }: Candidate, place: number) =>
    !isVersioned(rank) || candidates.findIndex((one) => one.after === after) === place
  return candidates.filter(isFirst)
}

/** A fixed order, which also decides a tie that nothing else does: by the vendor's event id, the greatest first. */
function latestFirst(candidates: Candidate[]): Candidate[] {
  const key = ({ vendor_event_id, after }: Candidate) => `${vendor_event_id} ${after}`
  return candidates.sort((a, b) => (key(a) < key(b) ? 1 : -1))
}

/**
 * The last of tied events, found from the state that each one reports as the state before it. An order fits if it
 * begins where the rank below ended, and each event finds the state that it reports.
 *
 * @returns the event that every fitting order ends in; null if they end in different states, or no order fits
 */
function lastOf(top: readonly Candidate[], anchors: readonly Candidate[]): Candidate | null {
  if (new Set(top.map(({ after }) => after)).size === 1) return top[0] as Candidate
  if (top.length > MAX_ORDERED) return null
  // First as if every report had its change among the events; then as if a report made the change itself.
  const reported = top.map((one) => (one.reports ? { ...one, before: one.after } : one))
  const starts = [...new Set(anchors.map(({ after }) => after))]
  for (const [from, events] of [
    [starts, reported],
    [starts, top],
    // Where an event in between is missing, no order begins there. The tied events alone may still decide.
    [[null], reported],
    [[null], top],
  ] as const) {
    const ends = endsOf(events, from)
    const [end] = ends
    if (ends.size > 0) return ends.size === 1 ? (top.find(({ after }) => after === end) ?? null) : null
  }
  return null
}

/** The states that the events can end in, each taken once, from one of these starts; null stands for any state. */
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
