import { type CauseRow, isCut } from '../../../inbox/failures/failures'
import { lastDays } from '../../../inbox/failures/fields'
import { MAX_FAILURE_CAUSES, MAX_FAILURES } from '../../../inbox/failures/limits'
import { idTime } from '../../../lib/ids'
import { eventAdvice } from '../../../vendors/event-errors'
import { can, pathsOf, type Visit } from '../../page'
import { TestBadge } from '../../ui/badge'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'

/** The size of the bars of one cause in SVG units. */
const BAR = { width: 6, height: 24 }

/** The events of a cause, as a query of the list. */
export function causeQuery({ connection_id, last_error_code }: CauseRow): string {
  const code = last_error_code === null ? {} : { error_code: last_error_code }
  return new URLSearchParams({ status: 'failed', connection_id, ...code }).toString()
}

/** What the cause means, and whether a replay may succeed. */
export function adviceOnCause({ last_error_code, vendor }: CauseRow) {
  return eventAdvice(last_error_code, vendorTitle(vendor))
}

/** `livemode`: the mode that the list shows, if it is one. */
type CausesProps = { c: Visit; rows: readonly CauseRow[]; livemode: boolean | undefined }

/** Failed events by cause: one row for all that failed in the same way. Nothing if there is one event or none. */
export function Causes({ c, rows: all, livemode }: CausesProps) {
  const { now } = c.get('rt')
  const { events } = pathsOf(c)
  const rows = all.filter((row) => livemode === undefined || row.livemode === livemode)
  if (rows.reduce((sum, { n }) => sum + n, 0) < 2) return null
  return (
    <section aria-labelledby="causes">
      <h2 id="causes">By cause</h2>
      <Table
        label="Failed events by cause"
        class="causes"
        rows={rows}
        columns={[
          ['Cause', (row) => <a href={`${events}?${causeQuery(row)}`}>{adviceOnCause(row).what}</a>],
          [
            'Connection',
            ({ name, livemode }) => (
              <>
                {name} <TestBadge of={livemode} />
              </>
            ),
          ],
          ['Events', ({ n }) => n.toLocaleString('en'), 'number'],
          ['First received', ({ first }) => <Time at={idTime(first)} now={now} />, 'spare'],
          ['Last received', ({ last }) => <Time at={idTime(last)} now={now} />],
          ['14 days', (row) => <Days row={row} now={now} />],
          [
            '',
            (row) =>
              mayReplay(c, row) && (
                <a href={`${events}/replay?${causeQuery(row)}`}>
                  Replay…<span class="unseen"> {adviceOnCause(row).what}</span>
                </a>
              ),
          ],
        ]}
      />
      <p class="quiet">
        As of when this page was loaded.
        {isCut(all) &&
          ` Based on the newest ${MAX_FAILURES.toLocaleString('en')} failed events. At most ${MAX_FAILURE_CAUSES} causes are shown.`}
      </p>
    </section>
  )
}

/** Whether to offer a replay. Without a code, no filter separates these events from the other failed events of the connection. */
function mayReplay(c: Visit, row: CauseRow): boolean {
  return can(c, 'billing:write') && row.last_error_code !== null && adviceOnCause(row).mayPass
}

/** How many events of the cause were received on each day, as bars. */
function Days({ row, now }: { row: CauseRow; now: number }) {
  const days = lastDays(row, now)
  const most = Math.max(1, ...days.map(({ count }) => count))
  const busy = days.filter(({ count }) => count > 0)
  const words = busy.map(({ date, count }) => `${date}: ${count.toLocaleString('en')}`).join(', ')
  return (
    <svg
      class="days"
      viewBox={`0 0 ${days.length * BAR.width} ${BAR.height}`}
      role="img"
      aria-label={words === '' ? 'None in the last 14 days' : `Received by day: ${words}`}
    >
      {days.map(({ count }, at) => {
        const height = count === 0 ? 1 : Math.max(3, Math.round((count / most) * BAR.height))
        return <rect x={at * BAR.width} y={BAR.height - height} width={BAR.width - 1} height={height} />
      })}
    </svg>
  )
}
