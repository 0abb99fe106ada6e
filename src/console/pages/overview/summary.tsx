import { can, pathsOf, type Visit } from '../../page'
import { Badge, ModeBadge } from '../../ui/badge'
import { Time } from '../../ui/parts'
import { totalOf } from '../../ui/refusals'
import { Table } from '../../ui/table'
import { VendorLabel } from '../../ui/vendor'
import { lastOf, standingOf } from '../connections/describe'
import type { Overview } from './read'

/** The most connections that the overview shows. */
const SHOWN = 10

/** The connections, the last one to receive an event first. */
export function Connections({ c, of: { connections } }: { c: Visit; of: Overview }) {
  const { now } = c.get('rt')
  const at = pathsOf(c).connections
  const rows = connections.toSorted((a, b) => (lastOf(b) ?? 0) - (lastOf(a) ?? 0)).slice(0, SHOWN)
  return (
    <>
      <div class="head section">
        <h2>Connections</h2>
        <a href={at}>{connections.length > SHOWN ? `All ${connections.length} connections` : 'All connections'}</a>
      </div>
      {rows.length === 0 ? (
        <p class="quiet">No vendor is connected.</p>
      ) : (
        <Table
          label="Connections"
          rows={rows}
          columns={[
            ['Name', ({ id, name }) => <a href={`${at}/${id}`}>{name}</a>],
            ['Vendor', ({ vendor }) => <VendorLabel name={vendor} />],
            ['Mode', ({ livemode }) => <ModeBadge of={livemode} />],
            ['Status', (row) => <Badge of={standingOf(row)} />],
            ['Last event', (row) => <Time at={lastOf(row)} now={now} />],
            ['Refused, 1 h', ({ last_60m }) => totalOf(last_60m.refused).toLocaleString('en'), 'number'],
          ]}
        />
      )}
    </>
  )
}

/** Says that there are no keys. Nothing if there are some. */
export function Keys({ c, of: { keys } }: { c: Visit; of: Overview }) {
  if (!can(c, 'api_keys:read') || keys.length > 0) return null
  return (
    <>
      <div class="head section">
        <h2>API keys</h2>
        <a href={pathsOf(c).keys}>All API keys</a>
      </div>
      <p class="quiet">No active API keys: no server can call the API.</p>
    </>
  )
}
