import type { PropsWithChildren } from 'hono/jsx'
import { dayText } from '../../../billing/days/count'
import { round } from '../../ui/chart/scale'
import { type Flow, SHOWN_DAYS, type Shown } from './figures'

/** The size of a small chart in SVG units. The last day is at the right. */
const WIDTH = 150
const HEIGHT = 32
const STEP = WIDTH / SHOWN_DAYS
const MARGIN = 2

/** A line through the numbers of the last days, with a gap where one is not known. The table below has the same numbers. */
export function LevelLine({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return null
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const y = (value: number) =>
    most === least ? HEIGHT / 2 : round(HEIGHT - MARGIN - ((value - least) / (most - least)) * (HEIGHT - 2 * MARGIN))
  const path = values.map((value, at) => {
    if (value === null) return ''
    const isFirst = (values[at - 1] ?? null) === null
    return `${isFirst ? 'M' : 'L'}${round(left(values.length, at) + STEP / 2)} ${y(value)}${isFirst ? 'h0' : ''}`
  })
  return (
    <Chart>
      <path class="line" d={path.join('')} />
    </Chart>
  )
}

type BarsProps = { shown: readonly Shown[]; name: Flow; linkOf: ((day: number) => string) | null }

/** A bar for each of the last days on which something happened. With `linkOf`, it leads to a list; by keyboard, the table below leads there. */
export function FlowBars({ shown, name, linkOf }: BarsProps) {
  const most = Math.max(...shown.map(({ row }) => row?.[name] ?? 0))
  if (shown.length < 2 || most === 0) return null
  return (
    <Chart>
      {shown.map(({ day, row }, at) => {
        const n = row?.[name] ?? 0
        if (n === 0) return null
        const height = Math.max(2, round((n / most) * HEIGHT))
        const x = round(left(shown.length, at))
        const bar = <path class={name} d={`M${x + 0.5} ${HEIGHT}v-${height}h${STEP - 1}v${height}z`} />
        const title = <title>{`${dayText(day)}: ${n.toLocaleString('en')}`}</title>
        if (linkOf === null) {
          return (
            <g>
              {title}
              {bar}
            </g>
          )
        }
        return (
          <a href={linkOf(day)} tabindex={-1}>
            {title}
            <path class="hit" d={`M${x} 0h${STEP}v${HEIGHT}h-${STEP}z`} />
            {bar}
          </a>
        )
      })}
    </Chart>
  )
}

function Chart({ children }: PropsWithChildren) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {children}
    </svg>
  )
}

/** Where a day begins. */
const left = (days: number, at: number) => WIDTH - (days - at) * STEP
