import type { Page } from '../../../http/page'
import { can, pathsOf, type Visit } from '../../page'
import { Badge, ModeBadge } from '../../ui/badge'
import { BothModes } from '../../ui/both-modes'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { totalOf } from '../../ui/refusals'
import { whoMay } from '../../ui/roles'
import { type Column, Table } from '../../ui/table'
import { VendorLabel } from '../../ui/vendor'
import { connectionPath, lastOf, standingOf } from './describe'
import type { ListedConnection } from './read'

/** The list of connections, or an introduction if there are none. */
export function listPage(c: Visit, { data: rows, next_cursor }: Page<ListedConnection>) {
  const add = can(c, 'connections:write') && (
    <a class="button primary" href={`${pathsOf(c).connections}/new`}>
      Connect a vendor
    </a>
  )
  const empty = rows.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Connections', section: 'connections' },
    <>
      <Head title="Connections">{!empty && add}</Head>
      <BothModes c={c}>Connections</BothModes>
      {empty ? (
        <section class="empty">
          <h2>No connections yet</h2>
          <p>
            A connection gives you an ingest URL for a billing vendor's webhooks. Each event sent to that URL is
            verified with your signing secret, recorded, and processed.
          </p>
          {add || <p>Ask {whoMay('connections:write')} of this project to connect a vendor.</p>}
        </section>
      ) : (
        <Table label="Connections" rows={rows} columns={columnsOf(c)} />
      )}
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}

function columnsOf(c: Visit): Column<ListedConnection>[] {
  const { now } = c.get('rt')
  return [
    ['Name', (row) => <a href={connectionPath(c, row)}>{row.name}</a>],
    ['Vendor', (row) => <VendorLabel name={row.vendor} />],
    ['Mode', ({ livemode }) => <ModeBadge of={livemode} />],
    ['Status', (row) => <Badge of={standingOf(row)} />],
    ['Last event', (row) => <Time at={lastOf(row)} now={now} />],
    ['Accepted, 1 h', ({ hour }) => hour.accepted.toLocaleString('en'), 'number'],
    ['Refused, 1 h', (row) => <Refused c={c} row={row} />, 'number'],
  ]
}

/** How many deliveries were refused, with a link to the causes. */
function Refused({ c, row }: { c: Visit; row: ListedConnection }) {
  const n = totalOf(row.hour.refused)
  if (n === 0) return <>0</>
  return (
    <a class="error" href={`${connectionPath(c, row)}#refused`}>
      {n.toLocaleString('en')}
      <span class="unseen"> deliveries of {row.name} refused: see why</span>
    </a>
  )
}
