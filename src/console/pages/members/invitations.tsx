import type { Page } from '../../../http/page'
import { rankOf } from '../../../lib/access'
import { MINUTE } from '../../../lib/time'
import { isPrinted } from '../../../mail/deliver'
import { type Invitation, type InvitationState, invitationState } from '../../../members/invitations'
import { can, pathsOf, type Visit } from '../../page'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { brief, capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Email, Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import type { AroundMembers, SentAbout } from './read'

/** The states of the list of all invitations, with their labels. */
export const STATES: readonly (readonly [InvitationState, string])[] = [
  ['pending', 'Pending'],
  ['expired', 'Expired'],
  ['accepted', 'Accepted'],
  ['declined', 'Declined'],
  ['revoked', 'Revoked'],
]

/** All invitations of the project, in one state or in any. */
export function invitationsPage(
  c: Visit,
  { page, ...around }: AroundMembers & { page: Page<Invitation> },
  state: InvitationState | undefined,
) {
  const { members } = pathsOf(c)
  const at = `${members}/invitations`
  const choices = [[undefined, 'All'] as const, ...STATES]
  return show(
    c,
    { title: 'Invitations', section: 'members', above: ['Members', members] },
    <>
      <Head title="Invitations" />
      <nav class="choices" aria-label="State">
        {choices.map(([value, label]) => (
          <a href={value ? `${at}?state=${value}` : at} aria-current={value === state ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {page.data.length > 0 ? (
        <Table label="Invitations" rows={page.data} columns={invitationColumns(c, around, null)} class="keys" />
      ) : (
        <p class="quiet">There are no {state} invitations.</p>
      )}
      <Pager c={c} cursor={page.next_cursor} />
    </>,
  )
}

/** The columns of a list of invitations. */
export function invitationColumns(c: Visit, around: AroundMembers, sent: SentAbout | null): Column<Invitation>[] {
  const { now } = c.get('rt')
  const columns: Column<Invitation>[] = [
    [
      'Address',
      (row) => (
        <>
          <span class="name">
            <Email of={row.email} />
          </span>
          {sent?.at === row.id && <Wrong>{sent.mistakes.form}</Wrong>}
        </>
      ),
    ],
    ['Role', (row) => capital(row.role)],
    ['Status', (row) => <Status c={c} row={row} />],
    ['Expires', (row) => row.state === 'pending' && <Time at={row.expires_at} now={now} />],
    ['Invited by', (row) => <Inviter c={c} row={row} around={around} />, 'spare'],
  ]
  return can(c, 'members:write')
    ? [...columns, ['', (row) => <Actions c={c} row={row} refused={sent?.at === row.id} />]]
    : columns
}

/** The state and, for an invitation that can still be accepted, the outcome of its email. */
function Status({ c, row }: { c: Visit; row: Invitation }) {
  const { now } = c.get('rt')
  return (
    <>
      <Badge of={invitationState(row, now)} />
      {row.state === 'pending' && (
        <span class="line">{isPrinted(c) ? <Printed row={row} /> : <Mail row={row} now={now} />}</span>
      )}
    </>
  )
}

/** A local server sends no email: whoever is invited needs the link that its terminal shows. */
function Printed({ row: { id } }: { row: Invitation }) {
  return (
    <span class="quiet">
      <a href={`/console/invitations/${id}`}>Its link</a> is in the terminal of <code>npm start</code>
    </span>
  )
}

/** An email without an outcome after this time (ms) was probably not sent: the server stopped in the meantime. */
const UNKNOWN_AFTER = 5 * MINUTE

function Mail({ row: { sent_at, send_error, recent_sends }, now }: { row: Invitation; now: number }) {
  if (send_error !== null) return <span class="error">Not sent: {send_error}</span>
  const tried = recent_sends.at(-1) ?? 0
  if (sent_at !== null && sent_at >= tried) {
    return (
      <span class="quiet">
        Sent <Time at={sent_at} now={now} />
      </span>
    )
  }
  if (now - tried < UNKNOWN_AFTER) return <span class="quiet">Sending</span>
  return <span class="error">We do not know whether the email was sent</span>
}

function Inviter({ c, row, around }: { c: Visit; row: Invitation; around: AroundMembers }) {
  if (row.invited_by_type === 'user') {
    return <span class="cut">{around.people.get(row.invited_by_id) ?? 'Unknown user'}</span>
  }
  const key = around.keys?.find(({ id }) => id === row.invited_by_id)
  return <a href={`${pathsOf(c).keys}/${row.invited_by_id}`}>{key ? `API key “${key.name}”` : 'An API key'}</a>
}

/** What the user may do with a pending invitation. A user who may not give its role may only revoke it. */
function Actions({ c, row, refused }: { c: Visit; row: Invitation; refused: boolean }) {
  const own = userOf(c).role
  const at = `${pathsOf(c).members}/invitations/${row.id}`
  if (row.state !== 'pending') return null
  return (
    <>
      {own !== null && rankOf(row.role) <= rankOf(own) && (
        <Post c={c} to={`${at}/resend`} class="once">
          <button type="submit" autofocus={refused}>
            Resend<span class="unseen"> the invitation to {brief(row.email)}</span>
          </button>
        </Post>
      )}
      <a class="button" href={`${at}/revoke`} data-dialog>
        Revoke<span class="unseen"> the invitation to {brief(row.email)}</span>
      </a>
    </>
  )
}
