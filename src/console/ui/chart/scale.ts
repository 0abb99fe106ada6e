import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/time'
import type { Point } from './words'

/** The size of the chart in SVG units. */
export const WIDTH = 1160
export const HEIGHT = 280
/** The area inside the axis labels. */
export const PLOT = { left: 56, right: 1152, top: 18, bottom: 252 }

/** Possible grid lines in milliseconds: familiar durations, each about ten times the one before. */
const STEPS = [1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 4 * DAY, 40 * DAY, 400 * DAY]

/** Converts a bucket's index and a lag to positions on the chart. */
export type Scale = {
  x: (index: number) => number
  y: (ms: number) => number
  /** The width of one bucket. */
  step: number
  /** Grid lines, in milliseconds. */
  grid: readonly number[]
}

/** A logarithmic scale that fits all lags. @param lags in milliseconds */
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

/** The attributes of a column that reaches from `top` down to the axis. */
export const upright = (top: number) => ({ y: round(top), height: round(PLOT.bottom - top) })

const round = (value: number) => Math.round(value * 10) / 10

/** A ring around the current point. */
const RING = 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0'

/** A line through the lags with a gap where a lag is missing. A single lag between two gaps is drawn as a ring. */
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
