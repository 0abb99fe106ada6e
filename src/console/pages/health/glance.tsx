import type { Child } from 'hono/jsx'
import type { readFound } from '../../../health/health'
import { HOUR, iso } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import { Badge, TestBadge } from '../../ui/badge'
import { bytes, timeOf, took } from '../../ui/format'
import { Time } from '../../ui/parts'
import { adviceOn, Cause, totalOf } from '../../ui/refusals'
import { Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { heldWords, standingFrom } from '../connections/describe'
import { openQuery } from './places'

export type HealthFound = Awaited<ReturnType<typeof readFound>>
export type Health = HealthFound['health']
type Props = { c: Visit } & Pick<HealthFound, 'health' | 'failed' | 'attention'>

/** The last hour, all events, the connections, and the database. */
export function HealthGlance({ c, health, failed, attention }: Props) {
  const { refused } = health.last_60m
  return (
    <>
      <h2>Last hour</h2>
      <LastHour c={c} health={health} attention={attention} />
      <h2>All events, by status</h2>
      <nav class="chips" aria-label="All events, by status">
        {Object.entries(health.counts).map(([status, n]) => (
          <a
            class={n === 0 ? 'none' : status === 'failed' && attention.told > 0 ? 'bad' : undefined}
            href={`${pathsOf(c).events}?status=${status}`}
          >
            <span>{status}</span> <span class="count">{n.toLocaleString('en')}</span>
            {status === 'failed' && mutedNote(attention.muted)}
          </a>
        ))}
      </nav>
      {health.connections.length > 0 && (
        <>
          <h2>Connections</h2>
          <Connections c={c} health={health} failed={failed} attention={attention} />
        </>
      )}
      {totalOf(refused) > 0 && <Refusals c={c} health={health} />}
      <h2>Database</h2>
      <Store {...health.store} />
    </>
  )
}

/** What was refused, by connection and cause, with what to do about each. */
function Refusals({ c, health }: Omit<Props, 'failed' | 'attention'>) {
  const { connections } = pathsOf(c)
  const known = health.connections.flatMap(({ id, name, last_60m }) =>
    Object.entries(last_60m.refused).map(([cause, n]) => ({
      of: <a href={`${connections}/${id}#refused`}>{name}</a>,
      cause,
      n,
    })),
  )
  const deleted = Object.entries(health.last_60m.refused).map(([cause, all]) => {
    const ofKnown = known.filter((row) => row.cause === cause).reduce((sum, { n }) => sum + n, 0)
    return { of: <span class="quiet">A deleted connection</span>, cause, n: all - ofKnown }
  })
  const rows = [...known, ...deleted].filter(({ n }) => n > 0)
  return (
    <>
      <h2 id="refused">Refused in the last hour</h2>
      <Table
        label="Refused deliveries"
        rows={rows.sort((a, b) => b.n - a.n)}
        columns={[
          ['Connection', ({ of }) => of],
          ['Cause', ({ cause }) => <Cause of={cause} />],
          ['Refused', ({ n }) => n.toLocaleString('en'), 'number'],
          ['What to do', ({ cause }) => <span class="text">{adviceOn(cause)}</span>],
        ]}
      />
    </>
  )
}

/** The size of the project's database, which it shares with other projects. */
function Store({ number, size_bytes, limit_bytes }: Health['store']) {
  const share = size_bytes === null ? null : Math.floor((size_bytes / limit_bytes) * 100)
  return (
    <>
      <p>
        <label for="store">
          Database {number} holds {bytes(size_bytes)} of {bytes(limit_bytes)}
          {share !== null && ` (${share < 1 ? 'less than 1' : share} %)`}, with the data of all its projects.
        </label>
      </p>
      <meter id="store" max={limit_bytes} high={limit_bytes * 0.8} value={size_bytes ?? 0} />
    </>
  )
}

/** One figure. All of the tile leads to the events that it counts. */
function Tile({
  name,
  value,
  note,
  to,
  bad,
}: {
  name: string
  value: Child
  note?: Child
  to?: string
  bad?: boolean
}) {
  return (
    <div class={bad ? 'bad' : undefined}>
      <dt>{name}</dt>
      <dd>
        {to === undefined ? value : <a href={to}>{value}</a>}
        {note}
      </dd>
    </div>
  )
}

function LastHour({ c, health, attention }: Omit<Props, 'failed'>) {
  const hour = health.last_60m
  const { events } = pathsOf(c)
  const since = `received_after=${iso(c.get('rt').now - HOUR).slice(0, 19)}Z`
  const refused = totalOf(hour.refused)
  const counted = (n: number) => n.toLocaleString('en')
  return (
    <dl class="tiles five">
      <Tile name="Received" value={counted(hour.received)} to={`${events}?${since}`} />
      <Tile name="Processed" value={counted(hour.processed)} to={`${events}?${since}&status=processed`} />
      <Tile name="Ignored" value={counted(hour.ignored)} to={`${events}?${since}&status=ignored`} />
      <Tile
        name="Failed"
        value={counted(hour.failed)}
        note={mutedNote(attention.recent)}
        to={`${events}?${since}&status=failed`}
        bad={hour.failed > attention.recent}
      />
      <Tile name="Refused" value={counted(refused)} {...(refused > 0 && { to: '#refused' })} bad={refused > 0} />
      <Tile name="Duplicates" value={counted(hour.duplicates)} />
      <Tile name="Half processed within" value={took(hour.p50_ms)} />
      <Tile name="95 % processed within" value={took(hour.p95_ms)} />
      <Tile name="99 % processed within" value={took(hour.p99_ms)} />
      <Tile name="Oldest open event" value={took(health.oldest_pending_age_ms)} to={`${events}?${openQuery()}`} />
    </dl>
  )
}

function Connections({ c, health, failed, attention: { recentOf } }: Props) {
  const { now } = c.get('rt')
  const { connections, events } = pathsOf(c)
  return (
    <Table
      label="Connections"
      rows={health.connections}
      columns={[
        ['Connection', (row) => <a href={`${connections}/${row.id}`}>{row.name}</a>],
        ['Vendor', (row) => vendorTitle(row.vendor)],
        [
          'Status',
          (row) => (
            <>
              <Badge of={standingFrom({ ...row, last: row.last_received_at })} /> <TestBadge of={row.livemode} />{' '}
              {row.held > 0 && heldWords(row.held, health.counts.held)}
            </>
          ),
        ],
        ['Last event', (row) => <Time at={timeOf(row.last_received_at)} now={now} />],
        ['Accepted, 1 h', (row) => row.last_60m.accepted.toLocaleString('en'), 'number'],
        // The link leads to all of them, by cause, with what can be done about each.
        [
          'Failed, 1 h',
          ({ id }) => (
            <Bad
              n={failed.get(id) ?? 0}
              muted={recentOf.get(id)}
              to={`${events}?status=failed&connection_id=${id}`}
              what="failed"
            />
          ),
          'number',
        ],
        [
          'Refused, 1 h',
          ({ id, last_60m }) => (
            <Bad n={totalOf(last_60m.refused)} to={`${connections}/${id}#refused`} what="refused" />
          ),
          'number',
        ],
      ]}
    />
  )
}

/** How many of a number are muted. Nothing if none are. */
const mutedNote = (n: number) => n > 0 && <small>{n.toLocaleString('en')} muted</small>

/** How many went wrong, with a link to the causes. Those that are muted are no alarm. */
function Bad({ n, muted = 0, to, what }: { n: number; muted?: number | undefined; to: string; what: string }) {
  if (n === 0) return <>0</>
  return (
    <>
      <a class={n > muted ? 'error' : undefined} href={to}>
        {n.toLocaleString('en')}
        <span class="unseen"> {what}: see why</span>
      </a>{' '}
      {mutedNote(muted)}
    </>
  )
}
