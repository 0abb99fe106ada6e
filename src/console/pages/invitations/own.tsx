import type { OwnInvitation } from '../../../members/own-invitations'
import type { Visit } from '../../page'
import { Post } from '../../ui/controls'
import { capital } from '../../ui/format'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'

/** Who invited: the address of a user. An API key belongs to the project and has none, and neither has an erased user. */
export function inviterOf({ invited_by_email, invited_by_type }: OwnInvitation): string {
  return invited_by_email ?? (invited_by_type === 'user' ? 'A deleted account' : 'An API key of the project')
}

/** The open invitations to the signed-in address. Renders nothing if there are none. @param more whether there are older ones */
export function OwnInvitations({ c, rows, more }: { c: Visit; rows: OwnInvitation[]; more: boolean }) {
  if (rows.length === 0) return null
  return (
    <section aria-labelledby="invitations-title" class="own-invitations">
      <h2 id="invitations-title">
        {rows.length === 1 ? 'You are invited to a project' : 'You are invited to projects'}
      </h2>
      <Table
        label="Invitations to you"
        rows={rows}
        class="keys"
        columns={[
          [
            'Project',
            (row) => (
              <a class="name" href={`/console/invitations/${row.id}`}>
                {row.project_name}
              </a>
            ),
          ],
          ['Role', (row) => capital(row.role)],
          ['Invited by', (row) => <span class="cut">{inviterOf(row)}</span>],
          ['Expires', (row) => <Time at={row.expires_at} now={c.get('rt').now} />],
          ['', (row) => <Answers c={c} row={row} />],
        ]}
      />
      {more && (
        <p class="quiet">There are older invitations too. You will see them once you have answered some of these.</p>
      )}
    </section>
  )
}

/** The two answers to an invitation. */
export function Answers({ c, row }: { c: Visit; row: OwnInvitation }) {
  const at = `/console/invitations/${row.id}`
  const to = <span class="unseen"> the invitation to {row.project_name}</span>
  return (
    <>
      <Post c={c} to={`${at}/accept`} class="once">
        <button type="submit" class="primary">
          Accept{to}
        </button>
      </Post>
      <Post c={c} to={`${at}/decline`} class="once">
        <button type="submit">Decline{to}</button>
      </Post>
    </>
  )
}
