import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import type { ConnectionRow } from '../../../inbox/connections/store'
import { can, pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { lastOf, modeOf, pathOf } from './describe'

/** The list of connections, or an introduction if there are none. */
export function listPage(c: Context<HttpEnv>, { data: rows, next_cursor }: Page<ConnectionRow>) {
  const { now } = c.get('rt')
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
      <Head title="Connections">{add}</Head>
      {empty ? (
        <section class="empty">
          <h2>No connections yet</h2>
          <p>
            A connection gives you an ingest URL for a billing vendor's webhooks. Each event sent to that URL is
            verified with your signing secret, recorded, and processed.
          </p>
          {add || <p>Ask an admin of this project to connect a vendor.</p>}
        </section>
      ) : (
        <Table
          label="Connections"
          rows={rows}
          columns={[
            ['Name', (row) => <a href={pathOf(c, row)}>{row.name}</a>],
            ['Vendor', (row) => vendorTitle(row.vendor)],
            ['Mode', modeOf],
            ['Status', (row) => <Badge of={row.status} />],
            ['Last event', (row) => <Time at={lastOf(row)} now={now} />],
            ['Secrets', (row) => row.secrets.length],
            ['Created', (row) => <Time at={row.created_at} now={now} />],
          ]}
        />
      )}
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}
