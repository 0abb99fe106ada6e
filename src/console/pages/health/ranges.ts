import { DAY, HOUR } from '../../../lib/time'

/** The time ranges of the chart, with the bucket size for each. */
export const RANGES = {
  '1h': { label: '1 hour', ms: HOUR, bucket: '1m' },
  '6h': { label: '6 hours', ms: 6 * HOUR, bucket: '5m' },
  '24h': { label: '24 hours', ms: DAY, bucket: '1h' },
  '7d': { label: '7 days', ms: 7 * DAY, bucket: '1h' },
} as const
export type Range = keyof typeof RANGES

/** The range that the address asks for; the last hour by default. */
export function rangeOf(asked = ''): Range {
  return Object.hasOwn(RANGES, asked) ? (asked as Range) : '1h'
}
