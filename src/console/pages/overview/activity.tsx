import type { HourRow } from '../../../health/read'
import { HOUR, iso } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import { BothModes } from '../../ui/both-modes'
import { plural, took } from '../../ui/format'
import { Fact } from '../../ui/parts'
import { Table } from '../../ui/table'
import { HOURS, type Overview } from './read'

/** The size of the chart in SVG units. */
const WIDTH = 720
const HEIGHT = 120
const GAP = 4

/** What was received, what failed, what was refused, and how long processing takes. */
export function Activity({ c, of }: { c: Visit; of: Overview }) {
  const { now } = c.get('rt')
  const { health } = pathsOf(c)
  const hours = lastHours(of.hours, now)
  const { p50_ms, p95_ms } = of.facts.last_60m
  return (
    <>
      <div class="head section">
        <h2>Activity</h2>
        <a href={health}>Health and lag</a>
      </div>
      <BothModes c={c}>Events</BothModes>
      <dl class="tiles">
        <Fact name="Received, 24 h">{sum(hours, 'received').toLocaleString('en')}</Fact>
        <Fact name="Failed, 24 h">{sum(hours, 'failed').toLocaleString('en')}</Fact>
        <Fact name="Refused, 24 h">{sum(hours, 'refused').toLocaleString('en')}</Fact>
        <Within share="Half" ms={p50_ms} />
        <Within share="95 %" ms={p95_ms} />
      </dl>
      <Bars hours={hours} />
    </>
  )
}

/** How long it took at most to process a share of the events, from their receipt on. */
function Within({ share, ms }: { share: string; ms: number | null }) {
  return (
    <Fact name={`${share} processed within`}>
      {took(ms)}
      <small>in the last hour</small>
    </Fact>
  )
}

/** Events received in each of the last 24 hours: a bar chart, with the same data as a sentence and as a table. */
function Bars({ hours }: { hours: readonly HourRow[] }) {
  const most = Math.max(...hours.map(({ received }) => received))
  if (most === 0) return <p class="quiet">No events in the last 24 hours.</p>
  const step = WIDTH / hours.length
  const height = (n: number) => (n === 0 ? 0 : Math.max(2, Math.round((n / most) * HEIGHT)))
  const busy = hours.filter(({ received }) => received > 0)
  return (
    <figure class="bars">
      <figcaption class="quiet">Events by hour, UTC. Busiest hour: {most.toLocaleString('en')}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={inWords(hours, most)}>
        {hours.map((row, at) => (
          <g>
            <title>{hourInWords(row)}</title>
            <rect class="hit" x={at * step} y={0} width={step} height={HEIGHT} />
            <Bar name="received" x={at * step} width={step} height={height(row.received)} />
            <Bar name="failed" x={at * step} width={step} height={height(row.failed)} />
          </g>
        ))}
      </svg>
      <p class="axis quiet" aria-hidden="true">
        {[0, HOURS / 3, (2 * HOURS) / 3, HOURS - 1].map((at) => (
          <span>{clock(hours[at] as HourRow)}</span>
        ))}
      </p>
      <details>
        <summary>Show as a table</summary>
        <Table
          label="Events by hour"
          rows={busy}
          columns={[
            [
              'Hour (UTC)',
              (row) =>
                iso(row.hour * HOUR)
                  .slice(0, 16)
                  .replace('T', ' '),
            ],
            ['Received', ({ received }) => received.toLocaleString('en'), 'number'],
            ['Failed', ({ failed }) => failed.toLocaleString('en'), 'number'],
            ['Refused', ({ refused }) => refused.toLocaleString('en'), 'number'],
          ]}
        />
      </details>
    </figure>
  )
}

function Bar({ name, x, width, height }: { name: string; x: number; width: number; height: number }) {
  if (height === 0) return null
  return <rect class={name} x={x + GAP / 2} y={HEIGHT - height} width={width - GAP} height={height} rx={2} />
}

/** The last hours, including those without events, oldest first. */
function lastHours(rows: readonly HourRow[], now: number): HourRow[] {
  const byHour = new Map(rows.map((row) => [row.hour, row]))
  const last = Math.floor(now / HOUR)
  return Array.from({ length: HOURS }, (_, at) => {
    const hour = last - HOURS + 1 + at
    return byHour.get(hour) ?? { hour, received: 0, failed: 0, refused: 0 }
  })
}

function inWords(hours: readonly HourRow[], most: number): string {
  const top = hours.find(({ received }) => received === most) as HourRow
  return `Events of the last 24 hours: ${plural(sum(hours, 'received'), 'event')} received, ${sum(hours, 'failed')} failed. The busiest hour had ${most}, at ${clock(top)} UTC.`
}

function hourInWords(row: HourRow): string {
  return `${clock(row)} UTC: ${row.received} received, ${row.failed} failed, ${row.refused} refused`
}

const clock = ({ hour }: HourRow) => iso(hour * HOUR).slice(11, 16)

function sum(rows: readonly HourRow[], name: 'received' | 'failed' | 'refused'): number {
  return rows.reduce((total, row) => total + row[name], 0)
}
