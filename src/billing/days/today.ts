import { DAY } from '../../lib/time'
import { addToSums, type Countable } from './count'
import type { BillingDay } from './store'

/**
 * Replaces today's numbers, and yesterday's `created`, `lost` and `failed`, with those counted from the subscriptions of the project. Nothing is
 * stored.
 *
 * @param days as `readDays` gives them
 * @param rows all subscriptions of the project; none if they are not counted now
 * @param at.now milliseconds
 * @param at.mode the mode that the days are of, as `readDays` takes it
 */
export function withToday(
  days: readonly BillingDay[],
  rows: readonly Countable[],
  { now, mode }: { now: number; mode: boolean | undefined },
): BillingDay[] {
  const today = Math.floor(now / DAY)
  const read = mode === undefined ? rows : rows.filter(({ livemode }) => livemode === mode)
  // Unless a mode is given, those in test mode are counted only while there is none in live mode.
  const sum = addToSums([], read, today).toSorted((a, b) => b.livemode - a.livemode)[0]
  if (!sum) return [...days]
  const { today: happened, yesterday, ...counts } = sum
  const before = days.filter(({ livemode, day }) => livemode === sum.livemode && day < today)
  return [
    ...before.map((row) => (row.day === today - 1 ? { ...row, ...yesterday } : row)),
    { ...counts, ...happened, day: today, counted_at: now },
  ]
}
