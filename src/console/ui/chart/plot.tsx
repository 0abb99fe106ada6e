import { duration } from '../format'
import {
  columnsPath,
  HEIGHT,
  LAG,
  LEFT,
  lagPath,
  RIGHT,
  round,
  type Scale,
  scaleOf,
  ticksOf,
  VOLUME,
  WIDTH,
} from './scale'
import { clock, LINES, type Point, pointInWords, type Series } from './words'

type Drawn = { points: readonly Point[]; scale: Scale }

/** The chart as an image: the events of each bucket, and below them their lag. @param label a text alternative */
export function Plot({ series, label }: { series: Series; label: string }) {
  const points = series.data
  const lags = points.flatMap((point) => LINES.flatMap(([name]) => point[`${name}_ms`] ?? []))
  const scale = scaleOf(points, lags)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <Grid scale={scale} />
      <Ticks series={series} scale={scale} />
      <Volume points={points} scale={scale} />
      {LINES.map(([name, dashes]) => (
        <path
          class={`line ${name}`}
          stroke-dasharray={dashes}
          d={lagPath(
            points.map((point) => point[`${name}_ms`]),
            scale,
          )}
        />
      ))}
      <Targets points={points} scale={scale} />
    </svg>
  )
}

/** Columns of events: failed ones at the bottom, where they are seen first, then completed ones, then pending ones. */
function Volume({ points, scale }: Drawn) {
  const column = (of: (point: Point) => number, below: (point: Point) => number) =>
    columnsPath(points, scale, of, below)
  return (
    <>
      <path
        class="completed"
        d={column(
          ({ processed }) => processed,
          ({ failed }) => failed,
        )}
      />
      <path
        class="pending"
        d={column(
          ({ pending }) => pending,
          ({ failed, processed }) => failed + processed,
        )}
      />
      <path
        class="failed"
        d={column(
          ({ failed }) => failed,
          () => 0,
        )}
      />
    </>
  )
}

/** Grid lines. Each is labeled on the left, or on the right of the plot on a narrow screen. */
function Grid({ scale: { y, grid, most, tall } }: { scale: Scale }) {
  const lines: [number, string][] = [
    ...[0, most].map((n): [number, string] => [VOLUME.bottom - tall(n), n.toLocaleString('en')]),
    ...grid.map((ms): [number, string] => [y(ms), duration(ms)]),
  ]
  return (
    <>
      {lines.map(([at, label]) => (
        <>
          <line class="grid" x1={LEFT} x2={RIGHT} y1={at} y2={at} />
          <text x={LEFT - 8} y={at + 4} text-anchor="end">
            {label}
          </text>
          <text class="near" x={RIGHT + 6} y={at + 5}>
            {label}
          </text>
        </>
      ))}
    </>
  )
}

/** The labels of the time axis. */
function Ticks({ series, scale: { x } }: { series: Series; scale: Scale }) {
  return (
    <>
      {ticksOf(series.data).map((index) => (
        <>
          <line class="grid" x1={x(index)} x2={x(index)} y1={LAG.bottom} y2={LAG.bottom + 5} />
          <text x={x(index)} y={LAG.bottom + 19} text-anchor="middle">
            {clock(series.data[index] as Point, series.bucket)}
          </text>
        </>
      ))}
    </>
  )
}

/** Invisible columns, over both parts, that know a bucket's figures. The script shows them below the chart. */
function Targets({ points, scale: { x, step } }: Drawn) {
  return (
    <>
      {points.map(
        (point, index) =>
          point.received > 0 && (
            <rect class="hit" x={x(index)} width={step} y={VOLUME.top} height={round(LAG.bottom - VOLUME.top)}>
              <title>{pointInWords(point)}</title>
            </rect>
          ),
      )}
    </>
  )
}
