import type * as z from 'zod'
import { countedOf } from '../../../api-keys/counts'
import { readDays } from '../../../api-keys/days'
import { type KeyUsage, mergedDays, presentUsage } from '../../../api-keys/usage'
import { run } from '../../../db/client'
import { countryName } from '../../../lib/country'
import { DAY, isoDay } from '../../../lib/time'
import { can, type Visit } from '../../page'
import { exact, plural } from '../../ui/format'
import { CopyableCode } from '../../ui/parts'
import { Table } from '../../ui/table'

export type Usage = z.infer<typeof KeyUsage>

/** Days that the chart shows. */
const DAYS = 30
/** The size of the chart in SVG units. */
const WIDTH = 720
const HEIGHT = 120
const GAP = 4

/** Reads how a key of the project was used. */
export async function readUse(c: Visit, key: { project_id: string; id: string }): Promise<Usage> {
  const { db, now, settings } = c.get('rt')
  const stored = await run(db, readDays(db, key, Math.floor(now / DAY) - DAYS + 1))
  const days = mergedDays(stored, await countedOf(settings.codePepper, key.id))
  return presentUsage(days, now, can(c, 'audit_log:read'))
}

/** What would fail if the key stopped working. */
export function LiveTraffic({ of: { live_traffic } }: { of: Usage }) {
  const { requests, networks } = live_traffic
  if (requests === 0) return <p>No requests with it were recorded in the last hour.</p>
  return (
    <p class="warning" role="note">
      <strong>The key is in use: at least {plural(requests, 'request')} in the last hour</strong>, from{' '}
      {plural(networks, 'network')}.
    </p>
  )
}

/** How a key was used: a chart by day, where from, and the calls that were refused. */
export function UseOfKey({ of }: { of: Usage }) {
  if (of.days.length === 0) return null
  return (
    <>
      <h2>Usage</h2>
      <Bars of={of} />
      <Clients of={of} />
      {of.refused_calls.length > 0 && (
        <>
          <h2>Recent refused requests</h2>
          <Table
            label="Recent refused requests"
            rows={of.refused_calls}
            columns={[
              ['Time', ({ at }) => exact(Date.parse(at))],
              [
                'Call',
                ({ method, route }) => (
                  <code>
                    {method} {route}
                  </code>
                ),
              ],
              [
                'Response',
                ({ status, code }) => (
                  <>
                    {status} <code>{code}</code>
                  </>
                ),
              ],
              [
                'Request',
                ({ request_id }) => (
                  <CopyableCode id={`of-${request_id}`} label="request id">
                    {request_id}
                  </CopyableCode>
                ),
              ],
            ]}
          />
        </>
      )}
      <p class="hint">The real numbers may be higher: some requests may not have been recorded.</p>
    </>
  )
}

/** Requests by day: a bar chart, with the same data as a sentence and as a table. */
function Bars({ of }: { of: Usage }) {
  const last = Date.parse(of.days[0]?.day ?? '')
  const byDay = new Map(of.days.map((one) => [one.day, one]))
  const days = Array.from({ length: DAYS }, (_, at) => isoDay(last - (DAYS - 1 - at) * DAY))
  const most = Math.max(...of.days.map(({ requests }) => requests))
  const total = of.days.reduce((sum, { requests }) => sum + requests, 0)
  const step = WIDTH / DAYS
  const bar = (name: string, at: number, n: number) =>
    n > 0 && (
      <rect
        class={name}
        x={at * step + GAP / 2}
        y={HEIGHT - Math.max(2, Math.round((n / most) * HEIGHT))}
        width={step - GAP}
        height={Math.max(2, Math.round((n / most) * HEIGHT))}
        rx={2}
      />
    )
  return (
    <figure class="bars">
      <figcaption class="quiet">Requests by day, UTC. Busiest day: {most.toLocaleString('en')}</figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`At least ${plural(total, 'request')} on ${plural(of.days.length, 'day')}. The busiest day had ${most}.`}
      >
        {days.map((day, at) => {
          const { requests = 0, refused = {} } = byDay.get(day) ?? {}
          return (
            <g>
              <title>{`${day}: ${requests} requests, ${sum(refused)} refused`}</title>
              <rect class="hit" x={at * step} y={0} width={step} height={HEIGHT} />
              {bar('received', at, requests)}
              {bar('failed', at, sum(refused))}
            </g>
          )
        })}
      </svg>
      <details>
        <summary>Show as a table</summary>
        <Table
          label="Requests by day"
          rows={of.days}
          columns={[
            ['Day (UTC)', ({ day }) => day],
            ['Requests', ({ requests }) => requests.toLocaleString('en'), 'number'],
            ['Refused', ({ refused }) => sum(refused).toLocaleString('en'), 'number'],
            ['Most frequent call', ({ operations }) => <code>{operations[0]?.operation}</code>],
          ]}
        />
      </details>
    </figure>
  )
}

/** The last networks and clients of the newest day. */
function Clients({ of: { days } }: { of: Usage }) {
  const [newest] = days
  if (!newest) return null
  return (
    <>
      <h2>Used from, on {newest.day}</h2>
      <Table
        label="Used from"
        rows={newest.addresses}
        columns={[
          ['Network', ({ network, hash }) => <code>{network ?? hash}</code>],
          ['Country', ({ country }) => country && countryName(country)],
          ['Last seen', ({ last_seen_at }) => exact(Date.parse(last_seen_at))],
        ]}
      />
      {newest.user_agents.length > 0 && <p>Clients: {newest.user_agents.map(({ name }) => name).join(', ')}</p>}
    </>
  )
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, n) => total + n, 0)
