import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { readDirectory } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { iso, isoOrNull } from '../lib/time'
import { Holder } from '../tenancy/holder'
import { authorityOf } from './authority'
import { InviteBody, RoleName } from './fields'
import { findInvitation, type Invitation as InvitationRow, invitationState, listInvitations } from './invitations'
import { insertInvitation } from './invite'
import { MAILS_FROM_PROJECT, MAILS_TO_ADDRESS, MAX_PENDING } from './limits'
import { mailInvitation } from './mail-invitation'
import { renewInvitation, revokeInvitation } from './pending'

const tag = 'Invitations'
const State = named('InvitationState', z.enum(['pending', 'accepted', 'declined', 'revoked', 'expired']))
const Invitation = named(
  'Invitation',
  z.object({
    id: z.string(),
    email: z.string(),
    role: RoleName.describe('The role that is offered.'),
    state: State,
    invited_by: Holder.describe('The user or API key that sent the invitation.'),
    expires_at: timestamp,
    sent_at: timestamp.nullable().describe('When the last email was sent. Null if none has been sent.'),
    send_error: z
      .string()
      .nullable()
      .describe('Why the last email was not sent. Null if it was, or if it is on its way.'),
    sends: z.int().min(1).describe('How many emails the service has tried to send.'),
    created_at: timestamp,
  }),
  {
    id: SAMPLE.invitation,
    email: SAMPLE.email,
    role: 'developer',
    state: 'pending',
    invited_by: { type: 'user', id: SAMPLE.inviter },
    expires_at: SAMPLE.end,
    sent_at: SAMPLE.later,
    send_error: null,
    sends: 1,
    created_at: SAMPLE.time,
  },
)
const ListQuery = z.strictObject({ ...pageFields, state: State.optional() })
const actors = ['session', 'api_key'] as const
const writes = { actors, scope: 'members:write', project: true } as const
const MAIL_LIMITS = `At most ${MAILS_TO_ADDRESS} emails a day go to one mailbox from one project, together with those from other projects of the same sender, and ${MAILS_FROM_PROJECT} a day from one project to all mailboxes. What others send does not count. Over a limit, the response is 429.`

export const invitationRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createInvitation',
      summary: 'Invite an email address',
      description: `Sends an email after the response; \`sent_at\` or \`send_error\` shows the outcome. The email contains no secret: to accept, the invited person signs in with the address. You can offer roles up to your own. A project can have ${MAX_PENDING} pending invitations. ${MAIL_LIMITS}`,
      tag,
      policy: writes,
      responses: { 201: { description: 'The invitation.', schema: Invitation } },
      faults: [
        'daily_limit_reached',
        'role_escalation',
        'confirmation_required',
        'already_member',
        'already_invited',
        'invitation_limit_reached',
      ],
      repeated: async (c, { object_id }) => answer(c, await shown(c, object_id), 201),
    }),
    body(InviteBody),
    async (c) => {
      const actor = c.get('actor')
      const { email, role, expires_in_days: open_days } = c.req.valid('json')
      const row = await insertInvitation(
        c.get('rt').directory,
        { project_id: projectOf(actor), authority: authorityOf(actor) },
        { email: email.toLowerCase(), role, open_days },
        changeOf(c),
      )
      mailInvitation(c, row)
      return answer(c, present(row, row.created_at), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listInvitations',
      summary: 'List the invitations of the project',
      description: 'Newest first, in every state.',
      tag,
      policy: { actors, scope: 'members:read', project: true, reads: true },
      responses: { 200: { description: 'A page of invitations.', schema: listOf(Invitation) } },
    }),
    query(ListQuery),
    async (c) => {
      const { directory, now } = c.get('rt')
      const asked = c.req.valid('query')
      const list = paging('invitations', asked)
      const page = { state: asked.state, before: list.before, limit: list.take }
      const { rows } = await readDirectory(c, {
        rows: listInvitations(directory, projectOf(c.get('actor')), page, now),
      })
      return answer(
        c,
        list.page(rows, (row) => present(row, now)),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getInvitation',
      summary: 'Get an invitation',
      description: 'In any state.',
      tag,
      policy: { actors, scope: 'members:read', project: true, reads: true },
      responses: { 200: { description: 'The invitation.', schema: Invitation } },
      faults: ['not_found'],
    }),
    async (c) => answer(c, await shown(c, c.req.param('id')), 200),
  )
  .post(
    '/:id/resend',
    route({
      id: 'resendInvitation',
      summary: 'Send the email of an invitation again',
      description: `Also extends the invitation to its full time again, even if it has expired. Wait at least a minute between two emails of an invitation, unless the first one could not be sent. ${MAIL_LIMITS}`,
      tag,
      policy: writes,
      responses: { 202: { description: 'The invitation. Its email is on its way.', schema: Invitation } },
      faults: [
        'daily_limit_reached',
        'not_found',
        'role_escalation',
        'confirmation_required',
        'invitation_not_pending',
        'invitation_limit_reached',
      ],
      repeated: async (c, { object_id }) => answer(c, await shown(c, object_id), 202),
    }),
    async (c) => {
      const row = await renewInvitation(c.get('rt').directory, addressed(c), changeOf(c))
      mailInvitation(c, row)
      return answer(c, present(row, c.get('rt').now), 202)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'revokeInvitation',
      summary: 'Revoke an invitation',
      description:
        'It can no longer be accepted. Revoking it again, or one that was declined, changes nothing and returns the same response.',
      tag,
      policy: { ...writes, ends: true },
      responses: { 204: { description: 'Revoked.' } },
      faults: ['not_found', 'invitation_not_pending'],
    }),
    async (c) => {
      await revokeInvitation(c.get('rt').directory, addressed(c), changeOf(c))
      return answer(c, null, 204)
    },
  )

/** The invitation that the path names, and the authority of the caller. */
function addressed(c: Context<HttpEnv>) {
  const actor = c.get('actor')
  return { project_id: projectOf(actor), id: c.req.param('id') ?? '', authority: authorityOf(actor) }
}

async function shown(c: Context<HttpEnv>, id: string) {
  const { directory, now } = c.get('rt')
  const { rows } = await readDirectory(c, { rows: findInvitation(directory, projectOf(c.get('actor')), id) })
  return present(requireFound(rows, 'Invitation'), now)
}

function present(row: InvitationRow, now: number): z.infer<typeof Invitation> {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    state: invitationState(row, now),
    invited_by: { type: row.invited_by_type, id: row.invited_by_id },
    expires_at: iso(row.expires_at),
    sent_at: isoOrNull(row.sent_at),
    send_error: row.send_error,
    sends: row.sends,
    created_at: iso(row.created_at),
  }
}
