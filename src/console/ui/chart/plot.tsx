import { duration } from '../format'
import { HEIGHT, PLOT, pathOf, type Scale, scaleOf, upright, WIDTH } from './scale'
import { clock, LINES, type Point, pointInWords, type Series } from './words'

/** The height of the tallest column of pending events. */
const PENDING_HEIGHT = 120
/** The number of labels on the time axis. */
const LABELS = 6

type Drawn = { points: readonly Point[]; scale: Scale }

/** The chart as an image. @param label a text alternative */
export function Plot({ series, label }: { series: Series; label: string }) {
  const points = series.data
  const lags = points.flatMap((point) => LINES.flatMap(([name]) => point[`${name}_ms`] ?? []))
  const scale = scaleOf(points, lags)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <Pending points={points} scale={scale} />
      <Grid scale={scale} />
      {points.map(
        (point, index) =>
          index % Math.ceil(points.length / LABELS) === 0 && (
            <text x={scale.x(index + 0.5)} y={PLOT.bottom + 18}>
              {clock(point, series.bucket)}
            </text>
          ),
      )}
      {LINES.map(([name, dashes]) => (
        <path
          class={name}
          stroke-dasharray={dashes}
          d={pathOf(
            points.map((point) => point[`${name}_ms`]),
            scale,
          )}
        />
      ))}
      <Targets points={points} scale={scale} />
    </svg>
  )
}

/** Columns behind the lines: events that are not yet processed. */
function Pending({ points, scale: { x, step } }: Drawn) {
  const most = Math.max(...points.map(({ pending }) => pending))
  return (
    <>
      {points.map(
        ({ pending }, index) =>
          pending > 0 && (
            <rect
              class="pending"
              x={x(index)}
              width={step}
              {...upright(PLOT.bottom - (pending / most) * PENDING_HEIGHT)}
            />
          ),
      )}
    </>
  )
}

/** Grid lines. Each is labeled on the left, or above the line on a narrow screen. */
function Grid({ scale: { y, grid } }: { scale: Scale }) {
  return (
    <>
      {grid.map((ms) => (
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
    </>
  )
}

/** Invisible columns that show a bucket's figures on hover. */
function Targets({ points, scale: { x, step } }: Drawn) {
  return (
    <>
      {points.map(
        (point, index) =>
          point.received > 0 && (
            <rect class="hit" x={x(index)} width={step} {...upright(PLOT.top)}>
              <title>{pointInWords(point)}</title>
            </rect>
          ),
      )}
    </>
  )
}
