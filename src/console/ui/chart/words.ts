import type { readLag } from '../../../inbox/health/lag'
import { plural, took } from '../format'

export type Series = Awaited<ReturnType<typeof readLag>>
export type Point = Series['data'][number]

/** The percentiles that have a line, and how each is dashed. */
export const LINES = [
  ['p50', undefined],
  ['p95', '7 4'],
  ['p99', '2 4'],
] as const

/** The whole chart as a sentence. */
export function inWords(busy: readonly Point[], label: string): string {
  const received = busy.reduce((sum, point) => sum + point.received, 0)
  const pending = busy.reduce((sum, point) => sum + point.pending, 0)
  const worst = busy.reduce((a, b) => ((b.p99_ms ?? 0) > (a.p99_ms ?? 0) ? b : a))
  const last = busy.at(-1) as Point
  const waiting = pending === 0 ? 'None is pending.' : `${plural(pending, 'event')} pending.`
  return `Lag over ${label}: ${plural(received, 'event')} received. The highest p99 was ${took(worst.p99_ms)}, at ${day(worst)} UTC. ${waiting} Lately: ${pointInWords(last)}.`
}

/** One bucket as a phrase. */
export function pointInWords(point: Point): string {
  const lags = LINES.map(([name]) => `${name} ${took(point[`${name}_ms`])}`).join(', ')
  return `${day(point)} UTC: ${lags}; ${point.received} received, ${point.failed} failed, ${point.pending} pending`
}

/** When a bucket starts: `2026-05-04 03:02`. */
export const day = ({ bucket_start }: Point) => bucket_start.slice(0, 16).replace('T', ' ')

/** The label of a bucket on the axis: a day where the series spans several. */
export function clock({ bucket_start }: Point, bucket: Series['bucket']): string {
  return bucket === '1m' || bucket === '5m' ? bucket_start.slice(11, 16) : bucket_start.slice(5, 16).replace('T', ' ')
}
