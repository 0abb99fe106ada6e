import type { Consumer } from '../../../consumers/read'
import { changeOf, projectOf } from '../../../http/auth'
import { deleteIdentity, type NamedIdentity } from '../../../sso/identities/identities'
import { action } from '../../action'
import { can, pathsOf, type Visit } from '../../page'
import { brief } from '../../ui/format'
import { Email, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { devicesTab, placeOfConsumer } from './parts'
import { readConsumer, readIdentity, type ShownConsumer } from './read'

/** How the consumer signs in with single sign-on. Nothing for a consumer that has never done so. */
export function Identities({ c, of: { row, identities } }: { c: Visit; of: ShownConsumer }) {
  const { data, more } = identities
  if (data.length === 0) return null
  return (
    <>
      <h2>Single sign-on</h2>
      <Table label="Identities" rows={data} columns={columnsOf(c, row)} class="consumers" />
      {more && (
        <p class="quiet">
          These are the newest. Your server can list all of them: <code>GET /sso/identities?consumer={row.id}</code>
        </p>
      )}
    </>
  )
}

function columnsOf(c: Visit, { id }: Consumer): Column<NamedIdentity>[] {
  const { now } = c.get('rt')
  const { sso, consumers } = pathsOf(c)
  const columns: Column<NamedIdentity>[] = [
    ['Signs in with', (one) => <a href={`${sso}/${one.connection_id}`}>{one.connection}</a>],
    [
      'As',
      ({ email, subject }) => (
        <>
          {email !== null && (
            <span class="name">
              <Email of={email} />
            </span>
          )}
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

export const removeIdentityPages = action({
  at: '/:consumer/identities/:identity/remove',
  needs: 'sso:write',
  counted: { ends: true },
  read,
  ask: (c, { row, identity: { connection, email, subject } }) => ({
    ...placeOfConsumer(c, row).view,
    title: 'Remove identity',
    question: `Remove ${brief(email ?? subject)}?`,
    says: (
      <>
        <p>
          This person at {connection} can no longer sign in as this consumer. The consumer stays, and sessions already
          open in your product are not affected.
        </p>
        <p>
          Their next sign-in is treated as their first: it is linked to the consumer with their verified address, or a
          new consumer is created if the connection does so. Block the consumer instead to refuse the sign-in.
        </p>
      </>
    ),
    verb: 'Remove identity',
    danger: true,
  }),
  run: async (c) => {
    const { id } = (await read(c)).identity
    await deleteIdentity(c.get('rt').directory, projectOf(c.get('actor')), id, changeOf(c))
  },
  done: (c) => [devicesTab(c), 'identity_removed'],
})

async function read(c: Visit) {
  const row = await readConsumer(c)
  return { row, identity: await readIdentity(c, row) }
}
