import { ROLES } from '../../../lib/access'
import { roleWords } from '../../../lib/access-words'
import { isPrinted } from '../../../mail/deliver'
import { InviteBody } from '../../../members/fields'
import { MAX_EMAIL, OPEN_DAYS } from '../../../members/limits'
import { choice, form, text } from '../../form'
import { can, pathsOf, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { Post, Wrong } from '../../ui/controls'
import { capital, plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head } from '../../ui/parts'
import { rolesUpTo } from '../../ui/roles'
import { Table } from '../../ui/table'
import { invitationColumns } from './invitations'
import { peopleColumns } from './people'
import { readTeam, type SentAbout } from './read'

/** For how many days an invitation can be open. */
const DAYS = [1, 3, 7, 14, 30].map((n) => [String(n), plural(n, 'day')] as const)

export const INVITATION = form(InviteBody, {
  email: text('Email address', { required: true, type: 'email', maxlength: MAX_EMAIL }),
  role: choice('Role', []),
  expires_in_days: { ...choice('Valid for', DAYS), read: Number },
})
const BLANK = INVITATION.opened({ role: 'developer', expires_in_days: OPEN_DAYS })

/** The form that invites an address. */
export function InviteForm({ c, sent: { entered = BLANK, mistakes } }: { c: Visit; sent: Sent }) {
  const sent = { entered, mistakes }
  const own = userOf(c).role ?? 'viewer'
  return (
    <section id="invite" aria-labelledby="invite-title">
      <h2 id="invite-title">Invite someone</h2>
      <p class="quiet">
        {isPrinted(c) ? (
          <>
            This server runs on your own machine and sends no email: the link is in the terminal where{' '}
            <code>npm start</code> runs. To accept, the person signs in with the address that you invite.
          </>
        ) : (
          'We email the address that you enter. To accept, the person signs in with that address. The email contains no secret, so forwarding it does no harm.'
        )}
      </p>
      <Post c={c} to={`${pathsOf(c).members}/invitations`} class="invite once">
        <Wrong>{mistakes.form}</Wrong>
        <div class="invite-fields">
          {INVITATION.field('email', sent, { autofocus: Object.keys(mistakes).length > 0 })}
          {INVITATION.field('role', sent, { options: rolesUpTo(own) })}
          {INVITATION.field('expires_in_days', sent)}
          <div class="field actions">
            <button type="submit" class="primary">
              Send invitation
            </button>
          </div>
        </div>
      </Post>
    </section>
  )
}

/** What each role can do. */
export function RolesExplained() {
  return (
    <details class="about-roles">
      <summary>What each role can do</summary>
      <dl>
        {ROLES.map((role) => (
          <div>
            <dt>{capital(role)}</dt>
            <dd>{roleWords(role, 'Can')}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Reads and shows the members of the project, the invitations that can still be accepted, and the form that invites. */
export async function showTeam(c: Visit, sent: SentAbout) {
  const team = await readTeam(c)
  const invites = can(c, 'members:write')
  const shown = [...team.members.data.map(({ user_id }) => user_id), ...team.invitations.map(({ id }) => id)]
  // A refusal is shown in its row. If the row is gone, or on another page, the refusal is shown above the list.
  const above = sent.at !== null && !shown.includes(sent.at) ? sent.mistakes.form : undefined
  return show(
    c,
    { title: 'Members', section: 'members', status: sent.status },
    <>
      <Head title="Members">
        {invites && (
          <a class="button primary" href="#invite">
            Invite
          </a>
        )}
      </Head>
      <Wrong>{above}</Wrong>
      <Table label="Members" rows={team.members.data} columns={peopleColumns(c, team, sent)} class="keys people" />
      <Pager c={c} cursor={team.members.next_cursor} />
      <RolesExplained />
      <h2>Invitations</h2>
      {team.invitations.length > 0 ? (
        <Table
          label="Invitations"
          rows={team.invitations}
          columns={invitationColumns(c, team, sent)}
          class="keys invitations"
        />
      ) : (
        <p class="quiet">There are no pending invitations.</p>
      )}
      <p>
        <a href={`${pathsOf(c).members}/invitations`}>{team.more ? 'All invitations' : 'Earlier invitations'}</a>
      </p>
      {invites && <InviteForm c={c} sent={sent.at === null ? sent : UNSENT} />}
    </>,
  )
}
