import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { can, pathsOf } from '../../page'
import { Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { invitationColumns } from './invitations'
import { BLANK, type Entered, InviteForm, RolesExplained } from './invite'
import { peopleColumns } from './people'
import type { Team } from './read'
import type { Refused } from './refusal'

/**
 * The members of the project, the invitations that can still be accepted, and the form that invites.
 *
 * @param refused the form that was refused, if one was
 * @param entered what the form that invites was filled in with
 */
export function listPage(c: Context<HttpEnv>, team: Team, refused: Refused | null = null, entered: Entered = BLANK) {
  const invites = can(c, 'members:write')
  const shown = [...team.members.data.map(({ user_id }) => user_id), ...team.invitations.map(({ id }) => id)]
  // A refusal is shown in its row. If the row is gone, or on another page, the refusal is shown above the list.
  const above = refused && refused.at !== null && !shown.includes(refused.at) ? refused.mistakes.form : undefined
  return show(
    c,
    { title: 'Members', section: 'members', status: refused?.status ?? 200 },
    <>
      <Head title="Members">
        {invites && (
          <a class="button primary" href="#invite">
            Invite
          </a>
        )}
      </Head>
      <Wrong>{above}</Wrong>
      <Table label="Members" rows={team.members.data} columns={peopleColumns(c, team, refused)} class="keys people" />
      <Pager c={c} cursor={team.members.next_cursor} />
      <RolesExplained />
      <h2>Invitations</h2>
      {team.invitations.length > 0 ? (
        <Table
          label="Invitations"
          rows={team.invitations}
          columns={invitationColumns(c, team, refused)}
          class="keys invitations"
        />
      ) : (
        <p class="quiet">There are no pending invitations.</p>
      )}
      <p>
        <a href={`${pathsOf(c).members}/invitations`}>{team.more ? 'All invitations' : 'Earlier invitations'}</a>
      </p>
      {invites && <InviteForm c={c} entered={entered} mistakes={refused?.at === null ? refused.mistakes : {}} />}
    </>,
  )
}
