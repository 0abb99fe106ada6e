import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { flagOrFalse, named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { requireScopes } from '../http/policy'
import { readDirectory } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { iso } from '../lib/time'
import { MAIL_CHOICES } from '../tenancy/schema'
import { authorityOf } from './authority'
import { setBreakGlass } from './break-glass'
import { changeRole } from './change-role'
import { RoleName } from './fields'
import { chooseMail } from './mail-choice'
import { findMember, listMembers, type Member as MemberRow, memberKey } from './read'
import { removeMember, removeWithKeys } from './remove'

const tag = 'Members'
const MailName = named('MailChoice', z.enum(MAIL_CHOICES))
const Member = named(
  'Member',
  z.object({
    user_id: z.string(),
    email: z.string(),
    role: RoleName,
    source: named('MemberSource', z.enum(['creator', 'invitation', 'sso'])).describe('How the user became a member.'),
    invited_by: z
      .string()
      .nullable()
      .describe('The user who sent the invitation. Null if an API key sent it, or if there was none.'),
    created_at: timestamp.describe('When the user became a member.'),
    break_glass: z
      .boolean()
      .describe('Whether the member, an owner, may sign in without the single sign-on that the project enforces.'),
    mail: MailName.describe(
      'Which emails about the project the member gets, as an owner or an admin. `security`: only those about exposed secrets, which owners always get.',
    ),
  }),
  {
    user_id: SAMPLE.user,
    email: SAMPLE.email,
    role: 'developer',
    source: 'invitation',
    invited_by: SAMPLE.inviter,
    created_at: SAMPLE.time,
    break_glass: false,
    mail: 'all',
  },
)
const ListQuery = z.strictObject({ ...pageFields, role: RoleName.optional() })
const RoleBody = named(
  'ChangeMember',
  z
    .strictObject({
      role: RoleName.optional(),
      mail: MailName.optional().describe('For the member alone, as an owner or an admin.'),
    })
    .refine(({ role, mail }) => (role === undefined) !== (mail === undefined), 'must have either `role` or `mail`'),
  { role: 'admin' },
)
const RemoveQuery = z.strictObject({
  revoke_keys: flagOrFalse.describe(
    'Whether to first revoke the API keys of the project that the member minted, or whose current secret the member was handed by rotating them. This requires the scope `api_keys:write`.',
  ),
})
const actors = ['session', 'api_key'] as const
const ofOwners = { actors: ['session'], scope: 'members:write', project: true, confirmed: true } as const

export const memberRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listMembers',
      summary: 'List the members of the project',
      description: 'Newest members first.',
      tag,
      policy: { actors, scope: 'members:read', project: true, reads: true },
      responses: { 200: { description: 'A page of members.', schema: listOf(Member) } },
    }),
    query(ListQuery),
    async (c) => {
      const asked = c.req.valid('query')
      const list = paging('members', asked, memberKey)
      const page = { role: asked.role, before: list.before, limit: list.take }
      const { rows } = await readDirectory(c, {
        rows: listMembers(c.get('rt').directory, projectOf(c.get('actor')), page),
      })
      return answer(c, list.page(rows, present), 200)
    },
  )
  .get(
    '/:user_id',
    route({
      id: 'getMember',
      summary: 'Get a member',
      description: 'A user who has left the project is not found.',
      tag,
      policy: { actors, scope: 'members:read', project: true, reads: true },
      responses: { 200: { description: 'The member.', schema: Member } },
      faults: ['not_found'],
    }),
    async (c) => {
      const { rows } = await readDirectory(c, {
        rows: findMember(c.get('rt').directory, projectOf(c.get('actor')), c.req.param('user_id')),
      })
      return answer(c, present(requireFound(rows, 'Member')), 200)
    },
  )
  .patch(
    '/:user_id',
    route({
      id: 'updateMember',
      summary: 'Change the role of a member, or your emails',
      description:
        'The role takes effect with the next request of the member. You can give and change roles up to your own. An API key acts as the highest role, up to admin, of which it has all scopes. Setting the same role again changes nothing. A session must be confirmed to make someone an owner, or to change the role of an owner. Pending invitations that the member sent are revoked if they offer admin or owner and the new role may not. An owner or an admin chooses with `mail` which emails about the project they get themselves.',
      tag,
      policy: { actors, scope: 'members:write', project: true },
      responses: { 200: { description: 'The member.', schema: Member } },
      faults: [
        'daily_limit_reached',
        'not_found',
        'role_escalation',
        'confirmation_required',
        'last_owner',
        'break_glass_missing',
        'console_session_required',
      ],
    }),
    body(RoleBody),
    async (c) => {
      const actor = c.get('actor')
      const member = {
        project_id: projectOf(actor),
        user_id: c.req.param('user_id'),
        authority: authorityOf(actor),
      }
      const { directory } = c.get('rt')
      const { role, mail } = c.req.valid('json')
      const row = role
        ? await changeRole(directory, member, { role }, changeOf(c))
        : await chooseMail(directory, actor, { ...member, mail: mail ?? 'all' }, changeOf(c))
      return answer(c, present(row), 200)
    },
  )
  .delete(
    '/:user_id',
    route({
      id: 'removeMember',
      summary: 'Remove a member, or leave',
      description:
        'The user loses access immediately, but stays a user. Every user may leave: a session needs no scope to remove its own user. A session must be confirmed to remove an owner, or to leave as one. API keys that the member minted keep working, unless you pass `revoke_keys=true`; their administrative scopes become dormant. Pending invitations that the member sent are revoked if they offer admin or owner.',
      tag,
      policy: { actors, scope: 'members:write', project: true, selfParam: 'user_id', ends: true },
      responses: { 204: { description: 'Removed.' } },
      faults: ['not_found', 'role_escalation', 'confirmation_required', 'last_owner', 'break_glass_missing'],
    }),
    query(RemoveQuery),
    async (c) => {
      const rt = c.get('rt')
      const actor = c.get('actor')
      const user_id = c.req.param('user_id')
      const removal = { project_id: projectOf(actor), user_id, authority: authorityOf(actor) }
      const { revoke_keys } = c.req.valid('query')
      if (revoke_keys) requireScopes(actor, ['api_keys:write'])
      if (revoke_keys) await removeWithKeys(rt, removal, changeOf(c))
      else await removeMember(rt.directory, removal, changeOf(c))
      return answer(c, null, 204)
    },
  )
  .put(
    '/:user_id/break-glass',
    route({
      id: 'giveBreakGlass',
      summary: 'Give an owner break-glass access',
      description:
        'They may then sign in with a code or a passkey while the project enforces single sign-on. Each such sign-in is in the audit log, and the owners get an email. For owners. Giving it again changes nothing.',
      tag,
      policy: ofOwners,
      responses: { 204: { description: 'Given.' } },
      faults: ['daily_limit_reached', 'not_found', 'role_escalation', 'not_an_owner'],
    }),
    async (c) => {
      await setBreakGlass(c.get('rt').directory, memberOf(c), true, changeOf(c))
      return answer(c, null, 204)
    },
  )
  .delete(
    '/:user_id/break-glass',
    route({
      id: 'takeBreakGlass',
      summary: 'Take break-glass access away',
      description:
        'For owners. While the project enforces single sign-on, one owner must keep it. Taking it again changes nothing.',
      tag,
      policy: ofOwners,
      responses: { 204: { description: 'Taken away.' } },
      faults: ['not_found', 'role_escalation', 'break_glass_missing'],
    }),
    async (c) => {
      await setBreakGlass(c.get('rt').directory, memberOf(c), false, changeOf(c))
      return answer(c, null, 204)
    },
  )

/** The member that a path names, and the authority of the caller. */
function memberOf(c: Context<HttpEnv>) {
  const actor = c.get('actor')
  return { project_id: projectOf(actor), user_id: c.req.param('user_id') ?? '', authority: authorityOf(actor) }
}

function present(row: MemberRow): z.infer<typeof Member> {
  return {
    user_id: row.user_id,
    email: row.email,
    role: row.role,
    source: row.source,
    invited_by: row.invited_by,
    created_at: iso(row.created_at),
    break_glass: row.break_glass,
    mail: row.mail,
  }
}
