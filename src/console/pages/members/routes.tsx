import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireFound } from '../../../lib/fault'
import { isPrinted } from '../../../mail/deliver'
import { authorityOf } from '../../../members/authority'
import { findInvitation } from '../../../members/invitations'
import { insertInvitation } from '../../../members/invite'
import { mailInvitation } from '../../../members/mail-invitation'
import { renewInvitation, revokeInvitation } from '../../../members/pending'
import { action } from '../../action'
import { page, pathsOf, type Visit } from '../../page'
import { EXPLAINED, UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { invitationsPage, STATES } from './invitations'
import { INVITATION, showTeam } from './list'
import { readInvitations } from './read'
import { rolePages } from './roles'

const invite = action({
  posts: '/invitations',
  needs: 'members:write',
  run: async (c) => {
    const { email, role, expires_in_days } = INVITATION.body(c.get('form'))
    const row = await insertInvitation(
      c.get('rt').directory,
      { project_id: projectOf(userOf(c)), authority: authorityOf(userOf(c)) },
      { email: email.toLowerCase(), role, open_days: expires_in_days },
      changeOf(c),
    )
    mailInvitation(c, row)
  },
  done: (c) => [pathsOf(c).members, isPrinted(c) ? 'invited_locally' : 'invited'],
  again: (c, sent) => showTeam(c, { ...sent, at: null }),
  explains: EXPLAINED.team,
})

const resend = action({
  posts: '/invitations/:id/resend',
  needs: 'members:write',
  run: async (c) => mailInvitation(c, await renewInvitation(c.get('rt').directory, addressed(c), changeOf(c))),
  done: (c) => [pathsOf(c).members, isPrinted(c) ? 'invitation_resent_locally' : 'invitation_resent'],
  again: (c, sent) => showTeam(c, { ...sent, at: addressed(c).id }),
  explains: EXPLAINED.team,
})

const revoke = action({
  at: '/invitations/:id/revoke',
  needs: 'members:write',
  counted: { ends: true },
  read: async (c) => {
    const { directory } = c.get('rt')
    const { project_id, id } = addressed(c)
    return requireFound(await run(directory, findInvitation(directory, project_id, id)), 'Invitation')
  },
  ask: (c, { email, role }) => ({
    title: 'Revoke invitation',
    section: 'members',
    above: ['Members', pathsOf(c).members],
    question: `Revoke the invitation to ${email}?`,
    says: (
      <p>
        The person was invited with the role {role}. After you revoke it, nobody can accept it. The person gets no email
        about this. You can invite the address again.
      </p>
    ),
    verb: 'Revoke invitation',
    danger: true,
  }),
  run: (c) => revokeInvitation(c.get('rt').directory, addressed(c), changeOf(c)),
  done: (c) => [pathsOf(c).members, 'invitation_revoked'],
  again: (c, sent) => showTeam(c, { ...sent, at: addressed(c).id }),
  explains: EXPLAINED.team,
})

/** The members of a project: list, change roles, remove, leave; and its invitations: list, invite, resend, revoke. */
export const memberPages = new Hono<HttpEnv>()
  .get('/', page('members:read'), (c) => showTeam(c, { ...UNSENT, at: null }))
  .get('/invitations', page('members:read'), async (c) => {
    const state = STATES.find(([name]) => name === c.req.query('state'))?.[0]
    return invitationsPage(c, await readInvitations(c, state), state)
  })
  .route('/', invite)
  .route('/', resend)
  .route('/', revoke)
  .route('/', rolePages)

/** The invitation that the path names, and the authority of the user. */
function addressed(c: Visit) {
  const user = userOf(c)
  return { project_id: projectOf(user), id: c.req.param('id') ?? '', authority: authorityOf(user) }
}
