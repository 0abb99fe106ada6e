import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { publicOrigin } from '../../../http/origin'
import { ingestUrl } from '../../../inbox/connections/present'
import type { ConnectionRow } from '../../../inbox/connections/store'
import type { Traffic } from '../../../inbox/health/traffic'
import { UNSENT } from '../../form'
import { can, pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Copyable, Fact, Head, Time } from '../../ui/parts'
import { Refusals, totalOf } from '../../ui/refusals'
import { vendorTitle } from '../../ui/vendor-titles'
import { lastOf, modeOf } from './describe'
import { Secrets } from './secrets'
import { Settings } from './settings'

/** A connection: its ingest URL, what came to it in the last hour, its signing secrets and settings. */
export function connectionPage(
  c: Context<HttpEnv>,
  { row, hour, names }: { row: ConnectionRow; hour: Traffic; names: ReadonlyMap<string, string> },
  { mistakes, status } = UNSENT,
) {
  const { connections, events } = pathsOf(c)
  return show(
    c,
    { title: row.name, section: 'connections', status, above: ['Connections', connections] },
    <>
      <Head
        title={
          <>
            {row.name} <Badge of={row.status} />
          </>
        }
      >
        <a class="button" href={`${events}?connection_id=${row.id}`}>
          View events
        </a>
      </Head>
      <h2>Ingest URL</h2>
      <Copyable id="ingest-url" label="ingest URL">
        {ingestUrl(c, row.id)}
      </Copyable>
      {publicOrigin(c) === null && (
        <p class="warning" role="note">
          This is only the path: the operator of this deployment must set <code>PUBLIC_ORIGIN</code> to its address.
        </p>
      )}
      <p class="quiet">
        Enter this URL as a webhook endpoint at {vendorTitle(row.vendor)}, and select the events to send.
      </p>
      <Facts row={row} hour={hour} now={c.get('rt').now} />
      {totalOf(hour.refused) > 0 && <h2>Refused in the last hour</h2>}
      <Refusals label="Refused deliveries" refused={hour.refused} />
      <Secrets c={c} row={row} names={names} mistakes={mistakes} />
      {can(c, 'connections:write') && <Settings c={c} row={row} mistakes={mistakes} />}
    </>,
  )
}

function Facts({ row, hour, now }: { row: ConnectionRow; hour: Traffic; now: number }) {
  return (
    <dl class="facts">
      <Fact name="Vendor">{vendorTitle(row.vendor)}</Fact>
      <Fact name="Mode">{modeOf(row)}</Fact>
      <Fact name="Last event">
        <Time at={lastOf(row)} now={now} />
      </Fact>
      <Fact name="Accepted, last hour">{hour.accepted.toLocaleString('en')}</Fact>
      <Fact name="Refused, last hour">{totalOf(hour.refused).toLocaleString('en')}</Fact>
      <Fact name="Created">
        <Time at={row.created_at} now={now} />
      </Fact>
      <Fact name="ID">
        <code>{row.id}</code>
      </Fact>
    </dl>
  )
}
