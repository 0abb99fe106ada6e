import type { Snapshot } from '../vendors/snapshot'
import { nanoseconds } from './reduce'

/**
 * Since when a subscription is past due, which no single event says: the latest period in which one of its events says that it
 * is, by {@link periodOf}, and the earliest vendor time of such an event. Both are in the form of {@link nanoseconds}.
 */
export type PastDue = { period: string; since: string }

/**
 * The period of a subscription, by its start; by its end, if the vendor only says that. In the form of {@link nanoseconds}.
 */
export function periodOf(start: string | null, end: string | null): string {
  return nanoseconds(start ?? end)
}

/**
 * What one event says; null if it does not say that a subscription is past due, or has no time. A fetch says it for the event
 * that caused it. Other fetches do not count: nobody knows how long the state held before somebody looked.
 */
export function pastDueIn({ kind, body, occurred_at, read }: Snapshot): PastDue | null {
  const since = read ? read.cause : occurred_at
  if (kind !== 'subscription' || body.status !== 'past_due' || since === null) return null
  return { period: periodOf(body.current_period_start, body.current_period_end), since: nanoseconds(since) }
}

/**
 * What two of them say together: a function of the set of events, so order and repetitions change nothing. An event that does not
 * decide the subscription's state counts too.
 */
export function mergedPastDue(a: PastDue | null, b: PastDue | null): PastDue | null {
  if (a === null || b === null) return a ?? b
  if (a.period !== b.period) return a.period > b.period ? a : b
  return a.since <= b.since ? a : b // `a` itself, if `b` says nothing new
}
