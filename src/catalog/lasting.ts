import { DAY } from '../lib/time'

/** What a second one-time payment of a plan does: its time follows that of the first, or runs beside it. */
export const AGAIN = ['after', 'beside'] as const
export type Again = (typeof AGAIN)[number]

const FOREVER = 'forever'
const DURATION = /^P([1-9]\d{0,3})([DMY])$/

/** How long a one-time payment gives a plan: `forever`, or days, months or years as ISO 8601 has them. */
export const LASTS = new RegExp(`^${FOREVER}$|${DURATION.source}`)

/**
 * When something ends that begins at a time (ms) and lasts so long. A month, or a year, ends on the same day of the month (UTC), or, if that month is
 * shorter, on its last day. Null: never.
 */
export function endOfLasting(from: number, lasts: string): number | null {
  const [, count = '', unit] = DURATION.exec(lasts) ?? []
  if (unit === undefined) return null
  if (unit === 'D') return from + Number(count) * DAY
  const end = new Date(from)
  const day = end.getUTCDate()
  end.setUTCDate(1)
  end.setUTCMonth(end.getUTCMonth() + Number(count) * (unit === 'Y' ? 12 : 1))
  const last = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(day, last))
  return end.getTime()
}
