import type { Child } from 'hono/jsx'
import { type CauseRow, isCut } from '../../../inbox/failures/failures'
import { codeNamed, lastDays, muteOf } from '../../../inbox/failures/fields'
import { MAX_FAILURE_CAUSES, MAX_FAILURES } from '../../../inbox/failures/limits'
import type { MuteRow } from '../../../inbox/mutes/mutes'
import type { SearchFields } from '../../../inbox/search/filters'
import { idTime } from '../../../lib/ids'
import { can, pathsOf, type Visit } from '../../page'
import { TestBadge } from '../../ui/badge'
import { Id } from '../../ui/id'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Muted, MuteOrUnmute } from '../mutes/parts'
import { adviceOnCause, causePath, causeQuery } from './cause-parts'
import type { Choice } from './filter-words'

/** The size of the bars of one cause in SVG units. */
const BAR = { width: 6, height: 24 }

/** The failed events of a project by cause, its muted causes, and who muted them, by id. */
export type FailuresByCause = {
  causes: readonly CauseRow[]
  mutes: readonly MuteRow[]
  names: ReadonlyMap<string, string>
}
/** `asked`: the filters of the list. `connections`: the names of those that were not deleted. */
type CausesProps = { c: Visit; of: FailuresByCause; asked: SearchFields | null; connections: readonly Choice[] }

/**
 * Failed events by cause: one row for all that failed in the same way. A list of one cause has only its row. Nothing if the
 * project has at most one failed event, and nothing is muted.
 */
export function Causes({ c, of, asked, connections }: CausesProps) {
  const { now } = c.get('rt')
  const { causes, mutes, names } = of
  const { livemode, connection_id = null, error_code = null } = asked ?? {}
  const isAsked = (connection: string, code: string | null) =>
    (connection_id ?? connection) === connection && (error_code ?? code) === code
  const rows = causes.filter(
    (row) => isAsked(row.connection_id, row.last_error_code) && (livemode === undefined || row.livemode === livemode),
  )
  const mutedAs = muteOf(mutes)
  const rest = mutes.filter(
    (mute) => isAsked(mute.connection_id, mute.code) && !causes.some((row) => mutedAs(row) === mute),
  )
  const isAll = connection_id === null && error_code === null
  const hasRows = rows.reduce((sum, { n }) => sum + n, 0) > (isAll ? 1 : 0) || rows.some(mutedAs)
  if (!hasRows && rest.length === 0) return null
  const mutedHow = (mute: MuteRow | null) => mute && <Muted mute={mute} names={names} now={now} />
  return (
    <section aria-labelledby="causes">
      <h2 id="causes">By cause</h2>
      {hasRows && <CauseTable c={c} rows={rows} mutedAs={mutedAs} mutedHow={mutedHow} />}
      {rest.length > 0 && <Rest c={c} rows={rest} mutedHow={mutedHow} connections={connections} />}
      <p class="quiet">
        Counted when you opened this page.
        {isCut(causes) &&
          ` Based on the newest ${MAX_FAILURES.toLocaleString('en')} failed events. At most ${MAX_FAILURE_CAUSES} causes are shown.`}
      </p>
    </section>
  )
}

type MutedHow = (mute: MuteRow | null) => Child
type TableProps = {
  c: Visit
  rows: readonly CauseRow[]
  mutedAs: (row: CauseRow) => MuteRow | null
  mutedHow: MutedHow
}

function CauseTable({ c, rows, mutedAs, mutedHow }: TableProps) {
  const { now } = c.get('rt')
  const { events } = pathsOf(c)
  const columns: Column<CauseRow>[] = [
    [
      'Cause',
      (row) => (
        <>
          <a href={`${events}?${causeQuery(row)}`}>{adviceOnCause(row).what}</a>
          {can(c, 'billing:write') && !adviceOnCause(row).mayPass && (
            <small class="quiet">A replay would fail in the same way.</small>
          )}
          {mutedAs(row) && <small class="quiet">{mutedHow(mutedAs(row))}</small>}
        </>
      ),
    ],
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
    ['', (row) => <Actions c={c} row={row} isMuted={mutedAs(row) !== null} />],
  ]
  return <Table label="Failed events by cause" class="causes" rows={rows} columns={columns} />
}

function Actions({ c, row, isMuted }: { c: Visit; row: CauseRow; isMuted: boolean }) {
  const { what } = adviceOnCause(row)
  return (
    <>
      {mayReplay(c, row) && (
        <a href={`${pathsOf(c).events}/replay?${causeQuery(row)}`}>
          Replay these…<span class="unseen"> {what}</span>
        </a>
      )}
      {can(c, 'billing:write') && <MuteOrUnmute c={c} at={causePath(c, row)} isMuted={isMuted} what={what} />}
    </>
  )
}

type RestProps = { c: Visit; rows: readonly MuteRow[]; mutedHow: MutedHow; connections: readonly Choice[] }

/** Muted causes that no listed event has: it was replayed or deleted, or there are too many others. */
function Rest({ c, rows, mutedHow, connections }: RestProps) {
  const nameOf = (id: string) => connections.find((one) => one.id === id)?.name ?? <Id>{id}</Id>
  return (
    <Table
      label="Muted causes without listed events"
      rows={rows}
      columns={[
        ['Muted, without listed events', ({ code }) => <code>{code}</code>],
        ['Connection', ({ connection_id }) => nameOf(connection_id)],
        ['Mute', mutedHow],
        [
          '',
          ({ connection_id, code }) => {
            const at = causePath(c, { connection_id, last_error_code: codeNamed(code) ?? null })
            return can(c, 'billing:write') && <MuteOrUnmute c={c} at={at} isMuted={true} what={code} />
          },
        ],
      ]}
    />
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
