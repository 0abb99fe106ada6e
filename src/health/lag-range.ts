import { invalidField } from '../http/validate'
import { MINUTES_KEPT_MS } from '../inbox/limits'
import { DAY, HOUR, MINUTE } from '../lib/time'
import { DEFAULT_POINTS, MAX_POINTS } from './limits'

/** The sizes of a bucket (ms), smallest first. */
export const BUCKETS = { '1m': MINUTE, '5m': 5 * MINUTE, '1h': HOUR, '1d': DAY } as const
export type Bucket = keyof typeof BUCKETS

type Asked = { from?: string | undefined; to?: string | undefined; bucket?: Bucket | undefined }

/**
 * The buckets that a series has: how many of which size (ms), from which time on (ms).
 *
 * @throws {Fault} `validation_failed` if the range is empty or has too many points, or the bucket is too small for it
 */
export function rangeOf(asked: Asked, now: number): { bucket: Bucket; size: number; start: number; points: number } {
  const to = asked.to === undefined ? now : Date.parse(asked.to)
  const from = asked.from === undefined ? to - DAY : Date.parse(asked.from)
  if (from >= to) throw invalidField('/from', 'out_of_range', 'must be earlier than to')
  const smallest = from < now - MINUTES_KEPT_MS ? HOUR : MINUTE
  const bucket = asked.bucket ?? defaultBucket(from, to, smallest)
  const size = BUCKETS[bucket]
  if (size < smallest) {
    throw invalidField('/bucket', 'out_of_range', 'must be 1h or 1d for a range that starts more than two days ago')
  }
  const points = pointsOf(from, to, size)
  if (points > MAX_POINTS) {
    const advice = `${bucket === '1d' ? 'use' : 'use a larger bucket or'} a shorter range`
    throw invalidField('/bucket', 'out_of_range', `would give ${points} points; the limit is ${MAX_POINTS}: ${advice}`)
  }
  return { bucket, size, start: Math.floor(from / size) * size, points }
}

/** The smallest bucket that gives few enough points. */
function defaultBucket(from: number, to: number, smallest: number): Bucket {
  const fits = (Object.keys(BUCKETS) as Bucket[]).find(
    (name) => BUCKETS[name] >= smallest && pointsOf(from, to, BUCKETS[name]) <= DEFAULT_POINTS,
  )
  return fits ?? '1d'
}

/** How many buckets of this size (ms) a range touches. */
function pointsOf(from: number, to: number, size: number): number {
  return Math.ceil(to / size) - Math.floor(from / size)
}
