import type { Context } from 'hono'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import type { NamedIdentity } from '../../../sso/identities/identities'
import { can, pathsOf } from '../../page'
import { Confirm } from '../../ui/confirm'
import { brief } from '../../ui/format'
import { show } from '../../ui/layout'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import type { Shown } from './read'
import { titleOf } from './words'

/** How the consumer signs in with single sign-on. Nothing for a consumer that has never done so. */
export function Identities({ c, of: { row, identities } }: { c: Context<HttpEnv>; of: Shown }) {
  const { data, more } = identities
  if (data.length === 0) return null
  return (
    <>
      <h2>Single sign-on</h2>
      <Table label="Identities" rows={data} columns={columnsOf(c, row)} class="consumers" />
      {more && (
        <p class="quiet">
          There are others. <code>GET /sso/identities?consumer={row.id}</code> lists all.
        </p>
      )}
    </>
  )
}

function columnsOf(c: Context<HttpEnv>, { id }: Consumer): Column<NamedIdentity>[] {
  const { now } = c.get('rt')
  const { sso, consumers } = pathsOf(c)
  const columns: Column<NamedIdentity>[] = [
    ['Signs in with', (one) => <a href={`${sso}/${one.connection_id}`}>{one.connection}</a>],
    [
      'As',
      ({ email, subject }) => (
        <>
          {email !== null && <span class="name">{email}</span>}
          <code class="line quiet">{subject}</code>
        </>
      ),
    ],
    ['Linked', ({ created_at }) => <Time at={created_at} now={now} />],
    ['Last sign-in', ({ last_used_at }) => <Time at={last_used_at} now={now} />],
  ]
  const remove: Column<NamedIdentity> = [
    '',
    (one) => (
      <a class="button" href={`${consumers}/${id}/identities/${one.id}/remove`} data-dialog>
        Remove<span class="unseen"> {brief(one.email ?? one.subject)}</span>
      </a>
    ),
  ]
  return can(c, 'sso:write') ? [...columns, remove] : columns
}

/** Asks before an identity of a consumer is removed. */
export function removeIdentityPage(
  c: Context<HttpEnv>,
  row: Consumer,
  { id, connection, email, subject }: NamedIdentity,
) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Remove identity', section: 'consumers', above: [titleOf(row), path] },
    <Confirm
      c={c}
      title={`Remove ${brief(email ?? subject)}?`}
      to={`${path}/identities/${id}/remove`}
      verb="Remove identity"
      back={path}
      danger
    >
      <p>
        This person at {connection} no longer signs in as this consumer. The consumer stays, and sessions that your
        product has opened are not affected.
      </p>
      <p>
        Their next sign-in is treated as their first: it is linked to the consumer with their verified address, or a new
        consumer is created if the connection does so. Block the consumer instead to refuse the sign-in.
      </p>
    </Confirm>,
  )
}
