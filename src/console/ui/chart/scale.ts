import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/time'
import type { Point } from './words'

/** The size of the chart in SVG units. */
export const WIDTH = 1160
export const HEIGHT = 400
/** The area between the axis labels. */
export const LEFT = 56
export const RIGHT = 1152
/** The two parts of the chart, which share the time axis: the events of each bucket, and their lag. */
export const VOLUME = { top: 26, bottom: 130 }
export const LAG = { top: 170, bottom: 372 }

/** Possible grid lines in milliseconds: familiar durations, each about ten times the one before. */
const STEPS = [1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 4 * DAY, 40 * DAY, 400 * DAY]
/** Possible distances between the labels of the time axis (ms): a label is at a multiple of one, in UTC. */
const TICKS = [5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY]
/** The most labels on the time axis. */
const MAX_TICKS = 9

/** Converts a bucket's index, a number of events and a lag to positions on the chart. */
export type Scale = {
  x: (index: number) => number
  /** The width of one bucket. */
  step: number
  /** The height of a column of `n` events. */
  tall: (n: number) => number
  /** The number of events at the top of the volume's part: a round number. */
  most: number
  y: (ms: number) => number
  /** Grid lines of the lag, in milliseconds. */
  grid: readonly number[]
}

/** Linear for the events, and logarithmic for their lag; both fit all points. @param lags in milliseconds */
export function scaleOf(points: readonly Point[], lags: readonly number[]): Scale {
  const floor = STEPS.findLast((step) => step <= Math.min(...lags)) ?? 1
  const ceiling = STEPS.find((step) => step > floor && step >= Math.max(...lags)) ?? 10
  const step = (RIGHT - LEFT) / points.length
  const most = roundUp(Math.max(...points.map(({ received }) => received)))
  return {
    x: (index) => round(LEFT + index * step),
    step: round(step),
    tall: (n) => round((n / most) * (VOLUME.bottom - VOLUME.top)),
    most,
    y: (ms) => {
      const share = Math.log(Math.max(ms, floor) / floor) / Math.log(ceiling / floor)
      return round(LAG.bottom - share * (LAG.bottom - LAG.top))
    },
    grid: STEPS.filter((ms) => ms >= floor && ms <= ceiling),
  }
}

/** The next of 1, 2, 5, 10, 20, 50, … */
export function roundUp(n: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1)))
  return [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= n) ?? n
}

/** The buckets that have a label on the time axis: each starts at a round time. */
export function ticksOf(points: readonly Point[]): number[] {
  const starts = points.map(({ bucket_start }) => Date.parse(bucket_start))
  const span = (starts.at(-1) ?? 0) - (starts[0] ?? 0)
  const distance = TICKS.find((size) => span / size <= MAX_TICKS) ?? DAY
  return [...starts.keys()].filter((index) => (starts[index] as number) % distance === 0)
}

export const round = (value: number) => Math.round(value * 10) / 10

/** A ring around the current point. */
const RING = 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0'

/** A line through the lags with a gap where a lag is missing. A single lag between two gaps is drawn as a ring. */
export function lagPath(lags: readonly (number | null)[], { x, y }: Scale): string {
  const has = (index: number) => (lags[index] ?? null) !== null
  return lags
    .map((ms, index) => {
      if (ms === null) return ''
      const at = `${x(index + 0.5)} ${y(ms)}`
      if (has(index - 1)) return `L${at}`
      return `M${at}${has(index + 1) ? '' : RING}`
    })
    .join('')
}

/** Columns of `of(point)` events, each on top of `below(point)` others, as one path. */
export function columnsPath(
  points: readonly Point[],
  { x, step, tall }: Scale,
  of: (point: Point) => number,
  below: (point: Point) => number,
): string {
  const width = round(Math.max(step * 0.8, 1))
  return points
    .map((point, index) => {
      if (of(point) <= 0) return ''
      // A single event among thousands is still seen.
      const height = Math.max(tall(of(point)), 1)
      return `M${round(x(index) + step * 0.1)} ${round(VOLUME.bottom - tall(below(point)))}v${-height}h${width}v${height}z`
    })
    .join('')
}
