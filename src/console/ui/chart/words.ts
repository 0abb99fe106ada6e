import type { readLag } from '../../../health/lag'
import { plural, took } from '../format'

export type Series = Awaited<ReturnType<typeof readLag>>
export type Point = Series['data'][number]

/** The percentiles shown as lines, with the dash pattern of each. */
export const LINES = [
  ['p50', undefined],
  ['p95', '7 4'],
  ['p99', '2 4'],
] as const

/** The chart in words, for screen readers. */
export function inWords(busy: readonly Point[], label: string): string {
  const received = busy.reduce((sum, point) => sum + point.received, 0)
  const pending = busy.reduce((sum, point) => sum + point.pending, 0)
  const worst = busy.reduce((a, b) => ((b.p99_ms ?? 0) > (a.p99_ms ?? 0) ? b : a))
  const last = busy.at(-1) as Point
  const waiting = pending === 0 ? 'No events are pending.' : `${plural(pending, 'event')} pending.`
  return `Lag over ${label}: ${plural(received, 'event')} received. The highest p99 was ${took(worst.p99_ms)}, at ${day(worst)} UTC. ${waiting} Most recent: ${pointInWords(last)}.`
}

/** The figures of one bucket in words. */
export function pointInWords(point: Point): string {
  const lags = LINES.map(([name]) => `${name} ${took(point[`${name}_ms`])}`).join(', ')
  const { received, processed, failed, pending } = point
  return `${day(point)} UTC: ${received} received, ${processed} completed, ${failed} failed, ${pending} pending; ${lags}`
}

/** The start of a bucket: `2026-05-04 03:02`. */
export const day = ({ bucket_start }: Point) => bucket_start.slice(0, 16).replace('T', ' ')

const DAY_AND_MONTH = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** The axis label of a bucket: the time, and at midnight the day. */
export function clock({ bucket_start }: Point, bucket: Series['bucket']): string {
  const time = bucket_start.slice(11, 16)
  const day = DAY_AND_MONTH.format(Date.parse(bucket_start))
  if (bucket === '1d') return day
  return time === '00:00' ? day : time
}
