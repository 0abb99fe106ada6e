import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/time'
import type { Point } from './words'

/** The chart's own units; a page scales them. */
export const WIDTH = 1160
export const HEIGHT = 280
/** Where its lines are, between the labels of the axes. */
export const PLOT = { left: 56, right: 1152, top: 18, bottom: 252 }

/** Where the axis may start, end and have a line: steps of about ten that people read as durations. */
const STEPS = [1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 4 * DAY, 40 * DAY, 400 * DAY]

/** Where on the chart a point of time and a lag are. */
export type Scale = {
  x: (index: number) => number
  y: (ms: number) => number
  /** The width of a bucket. */
  step: number
  /** Lags with a grid line, in ms. */
  grid: readonly number[]
}

/** A scale on which all of these lags (ms) are within the plot. */
export function scaleOf(points: readonly Point[], lags: readonly number[]): Scale {
  const floor = STEPS.findLast((step) => step <= Math.min(...lags)) ?? 1
  const ceiling = STEPS.find((step) => step > floor && step >= Math.max(...lags)) ?? 10
  const step = (PLOT.right - PLOT.left) / points.length
  return {
    x: (index) => round(PLOT.left + index * step),
    y: (ms) => {
      const share = Math.log(Math.max(ms, floor) / floor) / Math.log(ceiling / floor)
      return round(PLOT.bottom - share * (PLOT.bottom - PLOT.top))
    },
    step: round(step),
    grid: STEPS.filter((ms) => ms >= floor && ms <= ceiling),
  }
}

/** A column from a height down to the axis. */
export const upright = (top: number) => ({ y: round(top), height: round(PLOT.bottom - top) })

const round = (value: number) => Math.round(value * 10) / 10

/** A ring around where the pen is. */
const RING = 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0'

/** A line through the lags that are there, with a gap where there is none; one alone is a ring. */
export function pathOf(lags: readonly (number | null)[], { x, y }: Scale): string {
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
