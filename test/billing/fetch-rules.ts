import { readOf } from '../../src/billing/fetched'
import { type Candidate, mergedState, nanoseconds, type ResolvedState } from '../../src/billing/reduce'
import { iso, SECOND } from '../../src/lib/time'
import type { Rules } from './fetch-play'

/*
 * The product's rules for fetched objects, and rules that lack a part of them:
 *
 * 1. A fetch beats events that are older than it, by the vendor's clock and with a margin.
 * 2. It ranks right above what we had processed before the request began.
 * 3. A fetch and events that contradict each other make the object ambiguous, so that it is fetched again.
 * 4. Fetches take no part in the order of tied events.
 */

type Merge = Rules['merge']
type Reads = NonNullable<Rules['read']>

/** With a smaller margin. */
const later =
  (seconds: number): Reads =>
  (answer) => {
    const read = readOf(answer)
    return { ...read, at: iso(Date.parse(read.at) + seconds * SECOND) }
  }
const byOurStart: Reads = (answer) => ({ ...readOf(answer), at: iso(answer.startedAt) })
const byOurEnd: Reads = (answer, end) => ({ ...readOf(answer), at: iso(end) })
const belowEvents: Reads = (answer) => ({ ...readOf(answer), at: iso(SECOND) })
/** Without rule 2. */
const notOver =
  (reads: Reads): Reads =>
  (answer, end) => ({ ...reads(answer, end), over: null })

/** Over any winner, even if the answer is of an older version. */
const overAny: Reads = (answer) => ({ ...readOf(answer), over: answer.over })
/** Over no winner whose event occurred after the version was made. */
const overOlder: Reads = (answer) => {
  const read = readOf(answer)
  const occurred = answer.over?.split('|')[1] ?? ''
  return { ...read, over: occurred > nanoseconds(answer.version ?? null) ? null : read.over }
}

/** Fetches as if they were events: without rules 3 and 4. */
const asEvents: Merge = (known, { until: _, ...added }) => mergedState(known, added)

/** Fetches as if they were events, but with disputes: without rule 4. */
const notApart: Merge = (known, { until, ...added }) => {
  const merged = mergedState(known, { ...added, ...(until !== undefined && { latest: until }) } as Candidate)
  const [winner, ...others] = merged.candidates as (Candidate & { latest?: string })[]
  const fetched = others.find(({ latest }) => latest !== undefined)
  if (!winner || winner.latest !== undefined || !fetched) return merged
  const { latest = '', after } = fetched
  const isLater = latest >= (winner.rank.split('|')[1] ?? '')
  const doubt = isLater && after !== winner.after && after !== winner.before
  return { ...merged, ambiguous: merged.ambiguous || doubt }
}

const isFetch = ({ until }: Candidate) => until !== undefined
const fetchWins = ({ candidates }: ResolvedState) => candidates.some((one, place) => place === 0 && isFetch(one))
/** Whether the events are ambiguous by themselves. */
function eventsDiffer({ candidates }: ResolvedState): boolean {
  const events = candidates.filter((one) => !isFetch(one))
  const [winner] = events
  return winner !== undefined && mergedState(events, winner).ambiguous
}

/** Without rule 3, as far as it is about fetches that won. */
const noDoubtOfWinner: Merge = (known, added) => {
  const merged = mergedState(known, added)
  return fetchWins(merged) ? { ...merged, ambiguous: false } : merged
}
/** Without rule 3, as far as it is about fetches that lost. */
const noDoubtOfLoser: Merge = (known, added) => {
  const merged = mergedState(known, added)
  return fetchWins(merged) ? merged : { ...merged, ambiguous: eventsDiffer(merged) }
}
/** Without rule 3. */
const noDoubt: Merge = (known, added) => {
  const merged = mergedState(known, added)
  return { ...merged, ambiguous: !fetchWins(merged) && eventsDiffer(merged) }
}

/** The product's own rules. */
export const PRODUCT: Rules = { read: readOf, merge: mergedState, asksAgain: true }
const TOGETHER: Rules = { ...PRODUCT, merge: asEvents }
/** As before there were fetches. */
export const ALONE: Rules = { read: null, merge: mergedState, asksAgain: false }

/** From none of the rules to all of them. */
export const ROWS = {
  'events alone': ALONE,
  'our clock, at the start': { ...TOGETHER, read: notOver(byOurStart), asksAgain: false },
  'below every event': { ...TOGETHER, read: notOver(belowEvents) },
  'Date - duration - 1 s': { ...TOGETHER, read: notOver(later(4)) },
  'rule 1': { ...TOGETHER, read: notOver(readOf) },
  'rules 1, 2': TOGETHER,
  'rules 1-4': PRODUCT,
} satisfies Record<string, Rules>

/** The product's rules without one of them, or without a part of one. */
export const WITHOUT = {
  '1: the time of our own clock, at the start': { ...PRODUCT, read: byOurStart },
  '1: the time of our own clock, at the end': { ...PRODUCT, read: byOurEnd },
  '1: no margin': { ...PRODUCT, read: later(5) },
  '1: no time': { ...PRODUCT, read: belowEvents },
  '2': { ...PRODUCT, read: notOver(readOf) },
  '2: an answer of an older version is over the winner': { ...PRODUCT, read: overAny },
  '2: an event that occurred after its version is not below': { ...PRODUCT, read: overOlder },
  '3': { ...PRODUCT, merge: noDoubt },
  '3: where a fetch lost': { ...PRODUCT, merge: noDoubtOfLoser },
  '3: where a fetch won': { ...PRODUCT, merge: noDoubtOfWinner },
  '4': { ...PRODUCT, merge: notApart },
} satisfies Record<string, Rules>
