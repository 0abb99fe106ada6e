import type { Page } from '../../../http/page'
import type { SsoConnection } from '../../../sso/connections/connection'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { whoMay } from '../../ui/roles'
import { type Column, Table } from '../../ui/table'

export const AUDIENCE = { team: 'Your team', customers: 'Your customers' } as const

/** The list of connections, or an introduction if there are none. */
export function listPage(c: Visit, { data: rows, next_cursor }: Page<SsoConnection>) {
  const add = can(c, 'sso:write') && (
    <a class="button primary" href={`${pathsOf(c).sso}/new`}>
      Connect a provider
    </a>
  )
  const empty = rows.length === 0 && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Single sign-on', section: 'sso' },
    <>
      <Head title="Single sign-on">{!empty && add}</Head>
      {empty ? (
        <section class="empty">
          <h2>No connections yet</h2>
          <p>
            Connect an OpenID provider, such as Okta, Entra ID, Google Workspace or Keycloak. Your team can then sign in
            to this console with it, or your customers to your product.
          </p>
          {add || <p>Ask {whoMay('sso:write')} of this project to connect a provider.</p>}
        </section>
      ) : (
        <Table label="Connections" rows={rows} columns={columnsOf(c)} class="keys" />
      )}
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}

function columnsOf(c: Visit): Column<SsoConnection>[] {
  const { now } = c.get('rt')
  return [
    [
      'Name',
      (row) => (
        <a class="name" href={`${pathsOf(c).sso}/${row.id}`}>
          {row.name}
        </a>
      ),
    ],
    ['Who signs in', ({ audience }) => AUDIENCE[audience]],
    ['Provider', ({ issuer }) => new URL(issuer).hostname],
    [
      'Status',
      (row) => (
        <>
          <Badge of={row.state} /> {row.enforced && <Badge of="enforced" />}
        </>
      ),
    ],
    ['Last sign-in', (row) => <Time at={row.last_used_at} now={now} />],
  ]
}
