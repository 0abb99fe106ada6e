import { Hono } from 'hono'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { readHealth } from '../../../inbox/health/health'
import { readLag } from '../../../inbox/health/lag'
import { DAY, HOUR, iso } from '../../../lib/time'
import { page } from '../../page'
import { projectPaths } from '../../paths'
import { LagChart } from '../../ui/chart'
import { duration } from '../../ui/format'
import { show } from '../../ui/layout'
import { Badge, Fact, Head, live, Table, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendors'

const RANGES = {
  '1h': { label: '1 hour', ms: HOUR, bucket: '1m' },
  '6h': { label: '6 hours', ms: 6 * HOUR, bucket: '5m' },
  '24h': { label: '24 hours', ms: DAY, bucket: '1h' },
  '7d': { label: '7 days', ms: 7 * DAY, bucket: '1h' },
} as const
type Range = keyof typeof RANGES
type Health = Awaited<ReturnType<typeof readHealth>>

const took = (ms: number | null) => (ms === null ? '–' : duration(ms))

/** The pipeline at a glance, and its lag over time. */
export const healthPages = new Hono<HttpEnv>().get('/', page('billing:read'), async (c) => {
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const paths = projectPaths(project)
  const asked = c.req.query('range') ?? ''
  const range: Range = Object.hasOwn(RANGES, asked) ? (asked as Range) : '1h'
  const { ms, bucket } = RANGES[range]
  const [health, lag] = await Promise.all([
    readHealth(rt, project),
    readLag(rt, project, { from: iso(rt.now - ms), bucket }),
  ])
  return show(
    c,
    { title: 'Health', section: 'health' },
    <>
      <div id="health" {...live('health', `${paths.health}?range=${range}`, '10s')}>
        <Glance health={health} now={rt.now} connections={paths.connections} events={paths.events} />
      </div>
      <h2 id="lag">Lag, from receipt to completion</h2>
      <nav class="choices" aria-label="Range">
        {Object.entries(RANGES).map(([name, { label }]) => (
          <a href={`?range=${name}#lag`} aria-current={name === range ? 'true' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <LagChart series={lag} label={RANGES[range].label} />
    </>,
  )
})

function Glance(props: { health: Health; now: number; connections: string; events: string }) {
  const { health, now } = props
  const hour = health.last_60m
  const refused = Object.entries(hour.refused)
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
      <dl class="tiles">
        <Fact name="Received">{hour.received}</Fact>
        <Fact name="Processed">{hour.processed}</Fact>
        <Fact name="Ignored">{hour.ignored}</Fact>
        <Fact name="Failed">{hour.failed}</Fact>
        <Fact name="Duplicates">{hour.duplicates}</Fact>
        <Fact name="Refused">{refused.reduce((sum, [, n]) => sum + n, 0)}</Fact>
        <Fact name="p50">{took(hour.p50_ms)}</Fact>
        <Fact name="p95">{took(hour.p95_ms)}</Fact>
        <Fact name="p99">{took(hour.p99_ms)}</Fact>
        <Fact name="Oldest open">{took(health.oldest_pending_age_ms)}</Fact>
      </dl>
      {refused.length > 0 && <p class="quiet">Refused: {refused.map(([cause, n]) => `${cause} ${n}`).join(', ')}</p>}
      <p class="status-line">
        All events:
        {Object.entries(health.counts).map(([status, n]) => (
          <span>
            <a href={`${props.events}?status=${status}`}>{status}</a> {n.toLocaleString('en')}
          </span>
        ))}
      </p>
      {health.connections.length > 0 && (
        <Table
          label="Connections"
          heads={['Connection', 'Vendor', 'Status', 'Last event']}
          rows={health.connections.map((row) => [
            <a href={`${props.connections}/${row.id}`}>{row.name}</a>,
            vendorTitle(row.vendor),
            <Badge of={row.status} />,
            <Time at={row.last_received_at === null ? null : Date.parse(row.last_received_at)} now={now} />,
          ])}
        />
      )}
    </>
  )
}
