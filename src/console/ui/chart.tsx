import type { readLag } from '../../inbox/health/lag'
import { DAY, HOUR, MINUTE, SECOND } from '../../lib/time'
import { duration, plural } from './format'
import { Table } from './parts'

type Series = Awaited<ReturnType<typeof readLag>>
type Point = Series['data'][number]

const WIDTH = 1160
const HEIGHT = 280
const PLOT = { left: 56, right: 1152, top: 18, bottom: 252 }
const LINES = [
  ['p50', undefined],
  ['p95', '7 4'],
  ['p99', '2 4'],
] as const
/** Where the axis may start, end and have a line: steps of about ten that people read as durations. */
const STEPS = [1, 10, 100, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 4 * DAY, 40 * DAY, 400 * DAY]
const ROWS = 100

/** Percentiles of lag over time, for the eye as lines and for everybody as a sentence and a table. */
export function LagChart({ series, label }: { series: Series; label: string }) {
  const points = series.data
  const values = points.flatMap((point) => LINES.flatMap(([name]) => point[`${name}_ms`] ?? []))
  const busy = points.filter(({ received }) => received > 0)
  if (busy.length === 0) return <p class="quiet">No event was received in this range.</p>
  const floor = STEPS.findLast((step) => step <= Math.min(...values)) ?? 1
  const ceiling = STEPS.find((step) => step > floor && step >= Math.max(...values)) ?? 10
  const y = (ms: number) => {
    const share = Math.log(Math.max(ms, floor) / floor) / Math.log(ceiling / floor)
    return round(PLOT.bottom - share * (PLOT.bottom - PLOT.top))
  }
  const step = (PLOT.right - PLOT.left) / points.length
  const x = (index: number) => round(PLOT.left + index * step)
  const most = Math.max(...points.map(({ pending }) => pending))
  return (
    <figure class="chart">
      <section class="plot" tabindex={0} aria-label="Lag chart">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={inWords(busy, label)}>
          {points.map(
            ({ pending }, index) =>
              pending > 0 && (
                <rect
                  class="pending"
                  x={x(index)}
                  width={round(step)}
                  {...upright(PLOT.bottom - (pending / most) * 120)}
                />
              ),
          )}
          {STEPS.filter((ms) => ms >= floor && ms <= ceiling).map((ms) => (
            <>
              <line class="grid" x1={PLOT.left} x2={PLOT.right} y1={y(ms)} y2={y(ms)} />
              <text x={PLOT.left - 8} y={y(ms) + 4} text-anchor="end">
                {duration(ms)}
              </text>
              <text class="near" x={PLOT.right} y={y(ms) - 4} text-anchor="end">
                {duration(ms)}
              </text>
            </>
          ))}
          {points.map(
            ({ bucket_start }, index) =>
              index % Math.ceil(points.length / 6) === 0 && (
                <text x={x(index + 0.5)} y={PLOT.bottom + 18}>
                  {clock(bucket_start, series.bucket)}
                </text>
              ),
          )}
          {LINES.map(([name, dashes]) => (
            <path
              class={name}
              stroke-dasharray={dashes}
              d={pathOf(
                points.map((point, index) => [x(index + 0.5), point[`${name}_ms`]]),
                y,
              )}
            />
          ))}
          {points.map(
            (point, index) =>
              point.received > 0 && (
                <rect class="hit" x={x(index)} width={round(step)} {...upright(PLOT.top)}>
                  <title>{pointInWords(point)}</title>
                </rect>
              ),
          )}
        </svg>
      </section>
      <ul class="legend">
        {LINES.map(([name, dashes]) => (
          <li>
            <svg viewBox="0 0 26 10" aria-hidden="true">
              <path class={name} stroke-dasharray={dashes} d="M1 5H25" />
            </svg>
            {name}
          </li>
        ))}
        {most > 0 && (
          <li>
            <svg viewBox="0 0 26 10" aria-hidden="true">
              <rect class="pending" width="26" height="10" />
            </svg>
            pending, at most {most}
          </li>
        )}
        <li>UTC; logarithmic: each grid line is about ten times the one below</li>
      </ul>
      <details>
        <summary>The figures as a table</summary>
        <Table
          label="Lag"
          heads={['From (UTC)', 'Received', 'Completed', 'Failed', 'Pending', ...LINES.map(([name]) => name)]}
          rows={busy
            .slice(-ROWS)
            .map((point) => [
              day(point),
              point.received,
              point.processed,
              point.failed,
              point.pending,
              ...LINES.map(([name]) => took(point[`${name}_ms`])),
            ])}
        />
      </details>
    </figure>
  )
}

/** The whole chart as a sentence. */
function inWords(busy: readonly Point[], label: string): string {
  const received = busy.reduce((sum, point) => sum + point.received, 0)
  const pending = busy.reduce((sum, point) => sum + point.pending, 0)
  const worst = busy.reduce((a, b) => ((b.p99_ms ?? 0) > (a.p99_ms ?? 0) ? b : a))
  const last = busy.at(-1) as Point
  const waiting = pending === 0 ? 'None is pending.' : `${plural(pending, 'event')} pending.`
  return `Lag over ${label}: ${plural(received, 'event')} received. The highest p99 was ${took(worst.p99_ms)}, at ${day(worst)} UTC. ${waiting} Lately: ${pointInWords(last)}.`
}

function pointInWords(point: Point): string {
  const lags = LINES.map(([name]) => `${name} ${took(point[`${name}_ms`])}`).join(', ')
  return `${day(point)} UTC: ${lags}; ${point.received} received, ${point.failed} failed, ${point.pending} pending`
}

const day = ({ bucket_start }: Point) => bucket_start.slice(0, 16).replace('T', ' ')
const took = (ms: number | null) => (ms === null ? '–' : duration(ms))
const round = (value: number) => Math.round(value * 10) / 10
/** A column from a height down to the axis. */
const upright = (top: number) => ({ y: round(top), height: round(PLOT.bottom - top) })

/** A ring around where the pen is. */
const RING = 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0'

/** A line through the points that have a value, with a gap where there is none; one alone is a ring. */
function pathOf(points: readonly (readonly [number, number | null])[], y: (ms: number) => number): string {
  const has = (index: number) => (points[index]?.[1] ?? null) !== null
  return points
    .map(([x, ms], index) => {
      if (ms === null) return ''
      const at = `${x} ${y(ms)}`
      if (has(index - 1)) return `L${at}`
      return `M${at}${has(index + 1) ? '' : RING}`
    })
    .join('')
}

function clock(at: string, bucket: Series['bucket']): string {
  return bucket === '1m' || bucket === '5m' ? at.slice(11, 16) : at.slice(5, 16).replace('T', ' ')
}
