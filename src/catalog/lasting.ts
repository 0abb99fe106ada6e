import { DAY } from '../lib/time'

/** What a second one-time payment of a plan does: its time follows that of the first, or runs beside it. */
export const AGAIN = ['after', 'beside'] as const
export type Again = (typeof AGAIN)[number]

export const FOREVER = 'forever'
const DURATION = /^P([1-9]\d{0,3})([DMY])$/
/** The end of the last year that times in the API can have. What ends later never ends. */
const LAST_END = Date.UTC(9999, 11, 31)

/** How long a one-time payment gives a plan: `forever`, or days, months or years as ISO 8601 has them. */
export const LASTS = new RegExp(`^${FOREVER}$|${DURATION.source}`)

/**
 * When something ends that begins at a time (ms) and lasts so long. A month, or a year, ends on the same day of the month (UTC), or, if that month is
 * shorter, on its last day. Null: never.
 */
export function endOfLasting(from: number, lasts: string): number | null {
  const [, count = '', unit] = DURATION.exec(lasts) ?? []
  if (unit === undefined) return null
  const end = unit === 'D' ? from + Number(count) * DAY : afterMonths(from, Number(count) * (unit === 'Y' ? 12 : 1))
  return end < LAST_END ? end : null
}

function afterMonths(from: number, months: number): number {
  const end = new Date(from)
  const day = end.getUTCDate()
  end.setUTCDate(1)
  end.setUTCMonth(end.getUTCMonth() + months)
  const last = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(day, last))
  return end.getTime()
}
