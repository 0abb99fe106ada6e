import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { readHealth } from '../../../inbox/health/health'
import { pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { bytes, timeOf, took } from '../../ui/format'
import { Fact, Head, Time } from '../../ui/parts'
import { Refusals, totalOf } from '../../ui/refusals'
import { Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'

export type Health = Awaited<ReturnType<typeof readHealth>>
type Props = { c: Context<HttpEnv>; health: Health }

/** The current health: the status and its reasons, the last hour, all events, and the connections. */
export function Glance({ c, health }: Props) {
  return (
    <>
      <Head
        title={
          <>
            Health <Badge of={health.status} />
          </>
        }
      />
      {health.reasons.map((reason) => (
        <p class="error">{reason}</p>
      ))}
      <h2>Last hour</h2>
      <LastHour health={health} />
      <p class="status-line">
        All events:
        {Object.entries(health.counts).map(([status, n]) => (
          <span>
            <a href={`${pathsOf(c).events}?status=${status}`}>{status}</a> {n.toLocaleString('en')}
          </span>
        ))}
      </p>
      <p class="status-line">
        Database {health.store.number}: {bytes(health.store.size_bytes)} of {bytes(health.store.limit_bytes)}
      </p>
      {health.connections.length > 0 && <Connections c={c} health={health} />}
      {Object.keys(health.last_60m.refused).length > 0 && <h2>Refused in the last hour</h2>}
      <Refusals label="Refused deliveries" refused={health.last_60m.refused} />
    </>
  )
}

function LastHour({ health }: { health: Health }) {
  const hour = health.last_60m
  return (
    <dl class="tiles">
      <Fact name="Received">{hour.received}</Fact>
      <Fact name="Processed">{hour.processed}</Fact>
      <Fact name="Ignored">{hour.ignored}</Fact>
      <Fact name="Failed">{hour.failed}</Fact>
      <Fact name="Duplicates">{hour.duplicates}</Fact>
      <Fact name="Refused">{totalOf(hour.refused)}</Fact>
      <Fact name="p50">{took(hour.p50_ms)}</Fact>
      <Fact name="p95">{took(hour.p95_ms)}</Fact>
      <Fact name="p99">{took(hour.p99_ms)}</Fact>
      <Fact name="Oldest pending">{took(health.oldest_pending_age_ms)}</Fact>
    </dl>
  )
}

function Connections({ c, health }: Props) {
  const { now } = c.get('rt')
  return (
    <Table
      label="Connections"
      rows={health.connections}
      columns={[
        ['Connection', (row) => <a href={`${pathsOf(c).connections}/${row.id}`}>{row.name}</a>],
        ['Vendor', (row) => vendorTitle(row.vendor)],
        ['Status', (row) => <Badge of={row.status} />],
        ['Last event', (row) => <Time at={timeOf(row.last_received_at)} now={now} />],
        ['Accepted, last hour', (row) => row.last_60m.accepted.toLocaleString('en')],
        ['Refused, last hour', (row) => <Refused of={row.last_60m.refused} />],
      ]}
    />
  )
}

/** How many deliveries were refused, by cause. */
function Refused({ of }: { of: Record<string, number> }) {
  const n = totalOf(of)
  if (n === 0) return <>0</>
  const causes = Object.entries(of).map(([cause, count]) => `${cause} ${count}`)
  return (
    <>
      {n.toLocaleString('en')} <span class="quiet">({causes.join(', ')})</span>
    </>
  )
}
