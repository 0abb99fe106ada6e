import { Hono } from 'hono'
import * as z from 'zod'
import { run } from '../db/client'
import { answer } from '../http/answer'
import { changeOf, sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { query } from '../http/validate'
import { iso } from '../lib/time'
import { Holder } from '../tenancy/holder'
import { RoleName } from './fields'
import { notPending } from './invitations'
import {
  acceptInvitation,
  declineInvitation,
  listOwn,
  type OwnInvitation as OwnRow,
  requireAnswered,
} from './own-invitations'

const tag = 'Invitations'
const Project = z.object({ id: z.string(), name: z.string() })
const OwnInvitation = named(
  'OwnInvitation',
  z.object({
    id: z.string(),
    project: Project,
    role: RoleName,
    invited_by: Holder.extend({
      email: z.string().nullable().describe('The email address of a user; null for an API key.'),
    }),
    expires_at: timestamp,
  }),
  {
    id: SAMPLE.invitation,
    project: { id: SAMPLE.project, name: 'Acme' },
    role: 'developer',
    invited_by: { type: 'user', id: SAMPLE.inviter, email: 'grace@example.com' },
    expires_at: SAMPLE.end,
  },
)
const Accepted = named('AcceptedInvitation', z.object({ project: Project, role: RoleName }), {
  project: { id: SAMPLE.project, name: 'Acme' },
  role: 'developer',
})
const policy = { actors: ['session'], scope: null, project: false, bounded: true } as const
const faults = ['not_found', 'invitation_not_pending', 'invitation_expired'] as const

/** The invitations to the signed-in address, in any project. */
export const ownInvitationRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listOwnInvitations',
      summary: 'List the pending invitations to your address',
      description:
        'Newest first, from all projects. A session from single sign-on sees and answers only those of the projects that it reaches.',
      tag,
      policy,
      responses: { 200: { description: 'A page of invitations.', schema: listOf(OwnInvitation) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { directory, now } = c.get('rt')
      const list = paging('own-invitations', c.req.valid('query'))
      const rows = await run(directory, listOwn(directory, sessionOf(c), list, now))
      return answer(c, list.page(rows, present), 200)
    },
  )
  .post(
    '/:id/accept',
    route({
      id: 'acceptInvitation',
      summary: 'Accept an invitation',
      description:
        'Makes you a member of the project. If you are a member already, your role stays. Accepting it again returns the same response while you are a member. An accepted invitation cannot bring back a user who has left or was removed since. To become an owner, use a session that a code or a passkey opened.',
      tag,
      policy,
      responses: { 200: { description: 'The project, and your role in it.', schema: Accepted } },
      faults: ['daily_limit_reached', ...faults, 'sso_session_limited'],
    }),
    async (c) => {
      const invitation = await acceptInvitation(c.get('rt').directory, c.req.param('id'), sessionOf(c), changeOf(c))
      const { project, own_role: role } = requireAnswered(invitation, c.get('rt').now, 'accepted')
      if (role === null) throw notPending('accepted')
      return answer(c, { project, role }, 200)
    },
  )
  .post(
    '/:id/decline',
    route({
      id: 'declineInvitation',
      summary: 'Decline an invitation',
      description: 'Declining it again changes nothing and returns the same response.',
      tag,
      policy,
      responses: { 204: { description: 'Declined.' } },
      faults,
    }),
    async (c) => {
      const invitation = await declineInvitation(c.get('rt').directory, c.req.param('id'), sessionOf(c), changeOf(c))
      requireAnswered(invitation, c.get('rt').now, 'declined')
      return answer(c, null, 204)
    },
  )

function present(row: OwnRow): z.infer<typeof OwnInvitation> {
  return {
    id: row.id,
    project: { id: row.project_id, name: row.project_name },
    role: row.role,
    invited_by: { type: row.invited_by_type, id: row.invited_by_id, email: row.invited_by_email },
    expires_at: iso(row.expires_at),
  }
}
