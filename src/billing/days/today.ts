import { DAY } from '../../lib/time'
import { addToSums, type Countable } from './count'
import type { BillingDay } from './store'

/**
 * Days as `readDays` gives them, with the numbers of today and of what happened yesterday as all the subscriptions of the project say now. Nothing is
 * stored.
 *
 * @param now milliseconds
 */
export function withToday(days: readonly BillingDay[], rows: readonly Countable[], now: number): BillingDay[] {
  const today = Math.floor(now / DAY)
  // Those in test mode are counted only while there is none in live mode.
  const sum = addToSums([], rows, today).toSorted((a, b) => b.livemode - a.livemode)[0]
  if (!sum) return [...days]
  const { today: happened, yesterday, ...counts } = sum
  const before = days.filter(({ livemode, day }) => livemode === sum.livemode && day < today)
  return [
    ...before.map((row) => (row.day === today - 1 ? { ...row, ...yesterday } : row)),
    { ...counts, ...happened, day: today, counted_at: now },
  ]
}
