import { addMember, call, DIRECTORY, freshProject, invite, invited, unconfirm } from '../harness'
import { enforced } from '../sso/team/team'
import { asks, byOwner, may, people, type Rows, read, times } from './row'
import type { World } from './world'

const MEMBERS = '/platform/v1/members'
const PAGES = '/console/p/:project/platform/settings/members'
const MANAGE = may('admin', 'members:write')
const OF_OWNERS = { ...people('owner'), confirmed: true } as const
const coOwner = ({ coOwner }: World) => coOwner.user
const onMember = (what: string) => ({ action: `member.${what}`, object: (world: World) => world.member.user })
const onOwner = (what: string) => ({ action: `member.${what}`, object: coOwner })
const onInvitation = (what: string) => ({
  action: `invitation.${what}`,
  object: ({ invitation }: World) => invitation.id,
})

export const MEMBER_ROWS: Rows = {
  'GET /platform/v1/members': {
    who: read('members:read'),
    list: {
      id: (row) => `${row.created_at}${row.user_id}`,
      add: ({ project }, n) => times(n, () => addMember(project, 'viewer')),
      filters: ['role=viewer', 'role=owner', ''],
    },
    console: { [`GET ${PAGES}`]: {} },
  },
  'GET /platform/v1/members/:user_id': {
    who: read('members:read'),
    console: { [`GET ${PAGES}/:user`]: { policy: 'user' } },
  },
  'PATCH /platform/v1/members/:user_id': {
    who: MANAGE,
    json: { role: 'viewer' },
    audit: onMember('role_changed'),
    faults: {
      console_session_required: async () => {
        const { project, owner } = await byOwner()
        const { user } = await addMember(project, 'admin')
        return call(`${MEMBERS}/${user}`, { method: 'PATCH', project, token: owner.token, json: { mail: 'none' } })
      },
    },
    console: {
      [`POST ${PAGES}/:user/role`]: { fields: { role: 'admin', from: 'developer' } },
      'POST /console/p/:project/platform/notices/emails': {
        policy: 'members:write',
        action: 'member.mail_chosen',
        object: ({ owner }) => owner.user,
        fields: { mail: 'security' },
      },
    },
  },
  'DELETE /platform/v1/members/:user_id': {
    who: MANAGE,
    audit: onMember('removed'),
    faults: {
      last_owner: async () => {
        const { owner, send } = await byOwner()
        return send('DELETE', `${MEMBERS}/${owner.user}`)
      },
    },
    console: asks(`${PAGES}/:user/remove`),
  },
  'PUT /platform/v1/members/:user_id/break-glass': {
    who: OF_OWNERS,
    at: coOwner,
    audit: onOwner('break_glass_given'),
    faults: {
      not_an_owner: async () => {
        const { project, send } = await byOwner()
        const { user } = await addMember(project, 'admin')
        return send('PUT', `${MEMBERS}/${user}/break-glass`)
      },
    },
    console: { [`POST ${PAGES}/:user/break-glass`]: { policy: 'members:write', at: coOwner, fields: { on: 'true' } } },
  },
  'DELETE /platform/v1/members/:user_id/break-glass': {
    who: OF_OWNERS,
    at: coOwner,
    audit: {
      ...onOwner('break_glass_taken'),
      first: (world) =>
        DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE user_id = ?').bind(coOwner(world)).run(),
    },
    faults: {
      break_glass_missing: async () => {
        const { project, owner } = await enforced()
        return call(`${MEMBERS}/${owner.user}/break-glass`, { method: 'DELETE', project, token: owner.token })
      },
    },
  },
  'POST /platform/v1/invitations': {
    who: MANAGE,
    json: { email: 'sample@example.com', role: 'viewer', expires_in_days: 1 },
    status: 201,
    audit: { action: 'member.invited', object: () => /^inv_/ },
    faults: {
      role_escalation: async () => {
        const { project } = await freshProject()
        return invite(project, (await addMember(project, 'admin')).token, { role: 'owner' })
      },
      confirmation_required: async () => {
        const { project, owner } = await freshProject()
        await unconfirm(owner.user)
        return invite(project, owner.token, { role: 'owner' })
      },
      already_member: async () => {
        const { project, owner } = await freshProject()
        return invite(project, owner.token, { email: (await addMember(project, 'viewer')).email })
      },
      already_invited: async () => {
        const { project, owner } = await freshProject()
        const { email } = await invited(project)
        return invite(project, owner.token, { email })
      },
      invitation_limit_reached: async () => {
        const { project, owner } = await freshProject()
        await times(100, () => invited(project))
        return invite(project, owner.token)
      },
    },
    console: {
      [`POST ${PAGES}/invitations`]: { fields: { email: 'by-form@example.com', role: 'viewer', expires_in_days: '7' } },
    },
  },
  'GET /platform/v1/invitations': {
    who: read('members:read'),
    list: {
      add: ({ project }, n) => times(n, () => invited(project)),
      filters: ['state=pending', 'state=expired', ''],
    },
    console: { [`GET ${PAGES}/invitations`]: {} },
  },
  'GET /platform/v1/invitations/:id': {
    who: read('members:read'),
    console: { [`GET ${PAGES}/invitations/:id`]: { policy: 'user' } },
  },
  'POST /platform/v1/invitations/:id/resend': {
    who: MANAGE,
    audit: onInvitation('resent'),
    console: { [`POST ${PAGES}/invitations/:id/resend`]: {} },
  },
  'DELETE /platform/v1/invitations/:id': {
    who: MANAGE,
    audit: onInvitation('revoked'),
    faults: {
      invitation_not_pending: async () => {
        const { project, send } = await byOwner()
        const { id } = await invited(project, { state: 'accepted' })
        return send('DELETE', `/platform/v1/invitations/${id}`)
      },
    },
    console: asks(`${PAGES}/invitations/:id/revoke`),
  },
}
