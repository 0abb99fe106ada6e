import { DAY, HOUR } from '../../../lib/time'

/** How far back the chart can go, in buckets of which size. */
export const RANGES = {
  '1h': { label: '1 hour', ms: HOUR, bucket: '1m' },
  '6h': { label: '6 hours', ms: 6 * HOUR, bucket: '5m' },
  '24h': { label: '24 hours', ms: DAY, bucket: '1h' },
  '7d': { label: '7 days', ms: 7 * DAY, bucket: '1h' },
} as const
export type Range = keyof typeof RANGES

/** The range that an address names; the last hour where it names none. */
export function rangeOf(asked = ''): Range {
  return Object.hasOwn(RANGES, asked) ? (asked as Range) : '1h'
}
