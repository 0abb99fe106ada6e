import type { EndpointRow } from '../../../endpoints/endpoint'
import type { Page } from '../../../http/page'
import { can, pathsOf, type Visit } from '../../page'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { whoMay } from '../../ui/roles'
import { type Column, Table } from '../../ui/table'
import { behindOf, EndpointState, endpointPath, sentOf } from './parts'

/** The endpoints of the project, or an introduction if there are none. */
export function listPage(c: Visit, { data: rows, next_cursor }: Page<EndpointRow>) {
  const add = can(c, 'webhooks:write') && (
    <a class="button primary" href={`${pathsOf(c).endpoints}/new`}>
      Add endpoint
    </a>
  )
  const empty = rows.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Webhooks out', section: 'webhooks-out' },
    <>
      <Head title="Webhooks out">{!empty && add}</Head>
      {empty ? (
        <section class="empty">
          <h2>No endpoints yet</h2>
          <p>
            An endpoint is a URL on your own server. We send the changes in this project to it as they happen, signed
            with a secret, so your server does not need to poll for them.
          </p>
          {add || <p>Ask {whoMay('webhooks:write')} of this project to add an endpoint.</p>}
        </section>
      ) : (
        <Table label="Endpoints" rows={rows} columns={columnsOf(c)} class="audit" />
      )}
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}

function columnsOf(c: Visit): Column<EndpointRow>[] {
  const { now } = c.get('rt')
  return [
    [
      'Address',
      ({ id, url }) => (
        <a class="cut" href={endpointPath(c, id)}>
          {url}
        </a>
      ),
    ],
    ['State', (row) => <EndpointState row={row} />],
    ['Sends', sentOf],
    ['Changes pending', (row) => behindOf(row).toLocaleString('en'), 'number'],
    ['Last success', ({ last_success_at }) => <Time at={last_success_at} now={now} />],
    ['Last failure', ({ last_failure_at }) => <Time at={last_failure_at} now={now} />],
  ]
}
