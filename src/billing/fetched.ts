import { iso, SECOND } from '../lib/time'
import type { Read } from '../vendors/snapshot'
import { type Candidate, nanoseconds } from './reduce'

/** How much earlier than its `Date` an answer may have been read, besides the duration of the request: a vendor's own clocks differ. */
const EARLIER = 5 * SECOND
/** How much later: `Date` is in whole seconds, and its clock is not that of the vendor's events. */
const LATER = 3 * SECOND
/** How far our own clock may differ from the vendor's. It is used only if an answer has no `Date`. */
const OUR_CLOCK = 60 * SECOND

/** An answer of a vendor's API that has an object. Times are milliseconds since the epoch, durations milliseconds. */
export type FetchedAnswer = {
  /** The header `Date`; null if the answer has none. */
  date: string | null
  /** How long the request took, until the whole answer was here. */
  tookMs: number
  /** When the request began, by our clock. */
  startedAt: number
  /** The time of the object's own version, in ISO 8601 UTC, where the vendor gives one: Paddle's `updated_at`. */
  version?: string | null
  /** {@link winnersRank} of the object's row as it was read before the request began; null if it had none. */
  over: string | null
  /** As in {@link Read}. */
  cause?: string | null
}

/** When the object of an answer was read. A `Date` that is no date counts as none. */
export function readOf({ date, tookMs, startedAt, version = null, over, cause = null }: FetchedAnswer): Read {
  const said = Date.parse(date ?? '')
  const [earliest, latest] = Number.isNaN(said)
    ? [startedAt - OUR_CLOCK, startedAt + tookMs + OUR_CLOCK]
    : [said - tookMs - EARLIER, said + LATER]
  // An answer of an older version than the winner's comes from a copy that lags behind: it does not contain the winner.
  const lags = version !== null && versionIn(over ?? '') > nanoseconds(version)
  return { at: version ?? iso(earliest), until: iso(latest), over: lags ? null : over, cause }
}

/** The rank of the event or fetch that an object's state comes from, for {@link FetchedAnswer}; null if the object has no row. */
export function winnersRank(row: { candidates: readonly Candidate[] } | null): string | null {
  return row?.candidates[0]?.rank ?? null
}

/** The version of the object, as far as a rank says it. */
function versionIn(rank: string): string {
  return rank.split('|')[2] ?? ''
}
