import { took } from '../format'
import { type Column, Table } from '../table'
import { Legend } from './legend'
import { Plot } from './plot'
import { day, inWords, LINES, type Point, type Series } from './words'

/** The most rows that the table below the chart shows. */
const ROWS = 100

/** Events and their lag over time: a chart, with the same data as a sentence and as a table. */
export function LagChart({ series, label }: { series: Series; label: string }) {
  const busy = series.data.filter(({ received }) => received > 0)
  if (busy.length === 0) return <p class="quiet">No events were received in this period.</p>
  return (
    <figure class="chart">
      <div class="plots">
        <section class="plot" tabindex={0} aria-label="Chart" aria-describedby="readout">
          <Plot series={series} label={inWords(busy, label)} />
        </section>
        <p class="volume">Events received</p>
        <p class="lag">Lag from receipt to completion</p>
      </div>
      <p
        id="readout"
        class="readout"
        aria-live="polite"
        data-hint="Hover over the chart, or use the arrow keys, to read its values."
      />
      <Legend />
      <details>
        <summary>Show as a table</summary>
        <Figures of={busy.slice(-ROWS)} />
      </details>
    </figure>
  )
}

function Figures({ of }: { of: readonly Point[] }) {
  return (
    <Table
      label="Lag"
      rows={of}
      columns={[
        ['Start (UTC)', day],
        ['Received', (point) => point.received, 'number'],
        ['Completed', (point) => point.processed, 'number'],
        ['Failed', (point) => point.failed, 'number'],
        ['Pending', (point) => point.pending, 'number'],
        ...LINES.map(([name]): Column<Point> => [name, (point) => took(point[`${name}_ms`]), 'number']),
      ]}
    />
  )
}
