import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireConfirmed, requireScopes } from '../../../http/policy'
import { rankOf } from '../../../lib/access'
import { notFound, requireFound } from '../../../lib/fault'
import { isPrinted } from '../../../mail/deliver'
import { authorityOf, requireReach } from '../../../members/authority'
import { setBreakGlass } from '../../../members/break-glass-store'
import { changeRole, lastOwner, type MemberChange, removeMember, requireRemovable } from '../../../members/change-store'
import { InviteBody, RoleName } from '../../../members/fields'
import { findInvitation } from '../../../members/invitations-store'
import { mailInvitation } from '../../../members/invite'
import { insertInvitation } from '../../../members/invite-store'
import { renewInvitation, revokeInvitation } from '../../../members/pending-store'
import { removeWithKeys } from '../../../members/remove'
import type { Member } from '../../../members/store'
import { needsConfirmation, toConfirm } from '../../lead'
import { page, pathsOf } from '../../page'
import { parse } from '../../refusal'
import { userOf } from '../../session'
import type { NoticeName } from '../../ui/notice'
import { demotePage, leavePage, removePage, revokePage } from './confirm'
import { invitationsPage, STATES } from './invitations'
import { listPage } from './list'
import { type Affected, readAffected, readInvitations, readTeam } from './read'
import { outOfDate, refusedBecause } from './refusal'

const RoleForm = z.object({ role: RoleName, from: RoleName })

/** The members of a project: list, change roles, remove, leave; and its invitations: list, invite, resend, revoke. */
export const memberPages = new Hono<HttpEnv>()
  .get('/', page('members:read'), async (c) => listPage(c, await readTeam(c)))
  .get('/leave', page('members:read'), async (c) => {
    const user = userOf(c)
    const of = await required(c, user.user_id)
    if (!isOnlyOwner(of)) requireRemovable(memberOf(c, user.user_id), user.role, of.member)
    return leavePage(c, of)
  })
  .post('/leave', page('members:read'), async (c) => {
    const { user_id } = userOf(c)
    try {
      await end(c, memberOf(c, user_id))
      return c.redirect('/console?done=project_left', 303)
    } catch (error) {
      const refused = refusedBecause(c, user_id, error)
      return leavePage(c, await required(c, user_id), refused)
    }
  })
  .get('/invitations', page('members:read'), async (c) => {
    const state = STATES.find(([name]) => name === c.req.query('state'))?.[0]
    return invitationsPage(c, await readInvitations(c, state), state)
  })
  .post('/invitations', page('members:write'), async (c) => {
    const form = c.get('form')
    const text = (name: string) => form.get(name) ?? ''
    const entered = { email: text('email').trim(), role: text('role'), days: text('expires_in_days') }
    try {
      const { email, role, days } = entered
      const wanted = parse(InviteBody, { email, role, expires_in_days: Number(days) })
      const row = await insertInvitation(
        c.get('rt').directory,
        { project_id: projectOf(userOf(c)), authority: authorityOf(userOf(c)) },
        { email: wanted.email.toLowerCase(), role: wanted.role, open_days: wanted.expires_in_days },
        changeOf(c),
      )
      mailInvitation(c, row)
      return toList(c, isPrinted(c) ? 'invited_locally' : 'invited')
    } catch (error) {
      const refused = refusedBecause(c, null, error)
      return listPage(c, await readTeam(c), refused, entered)
    }
  })
  .post('/invitations/:id/resend', page('members:write'), async (c) => {
    const invitation = addressed(c)
    try {
      mailInvitation(c, await renewInvitation(c.get('rt').directory, invitation, changeOf(c)))
      return toList(c, isPrinted(c) ? 'invitation_resent_locally' : 'invitation_resent')
    } catch (error) {
      const refused = refusedBecause(c, invitation.id, error)
      return listPage(c, await readTeam(c), refused)
    }
  })
  .get('/invitations/:id/revoke', page('members:write'), async (c) => revokePage(c, await readInvitation(c)))
  .post('/invitations/:id/revoke', page('members:write'), async (c) => {
    try {
      await revokeInvitation(c.get('rt').directory, addressed(c), changeOf(c))
      return toList(c, 'invitation_revoked')
    } catch (error) {
      const refused = refusedBecause(c, addressed(c).id, error)
      return listPage(c, await readTeam(c), refused)
    }
  })
  .post('/:user/role', page('members:write'), async (c) => {
    const [form, member] = [c.get('form'), named(c)]
    const refuse = async (refused: ReturnType<typeof outOfDate>) => listPage(c, await readTeam(c), refused)
    try {
      const { role, from } = parse(RoleForm, Object.fromEntries(form))
      if (rankOf(role) < rankOf(from) && form.get('sure') !== 'true') {
        requireReach(member.authority, userOf(c).role, [from])
        const of = await required(c, member.user_id)
        if (isOnlyOwner(of)) throw lastOwner()
        return of.member.role === from ? demotePage(c, of, role) : refuse(outOfDate(member.user_id, of.member.role))
      }
      const now = await changeRole(c.get('rt').directory, member, { role, known: from }, changeOf(c))
      if (now.role !== role) return refuse(outOfDate(member.user_id, now.role))
      return toList(c, role === from ? undefined : 'role_changed')
    } catch (error) {
      // The page that asks before a lower role is an answer to a form, so it cannot be returned to.
      if (needsConfirmation(error)) return toConfirm(c, pathsOf(c).members)
      return refuse(refusedBecause(c, member.user_id, error))
    }
  })
  .post('/:user/break-glass', page('members:write'), async (c) => {
    requireConfirmed(userOf(c))
    const member = named(c)
    const on = c.get('form').get('on') === 'true'
    try {
      await setBreakGlass(c.get('rt').directory, member, on, changeOf(c))
      return toList(c, on ? 'break_glass_given' : 'break_glass_taken')
    } catch (error) {
      return listPage(c, await readTeam(c), refusedBecause(c, member.user_id, error))
    }
  })
  .get('/:user/remove', page('members:write'), async (c) => {
    const removal = named(c)
    if (removal.user_id === userOf(c).user_id) return c.redirect(`${pathsOf(c).members}/leave`, 303)
    const of = await required(c, removal.user_id)
    requireRemovable(removal, userOf(c).role, of.member)
    return removePage(c, of)
  })
  .post('/:user/remove', page('members:write'), async (c) => {
    const member = named(c)
    try {
      const keys = await end(c, member)
      return toList(c, keys ? 'member_removed_with_keys' : 'member_removed')
    } catch (error) {
      const refused = refusedBecause(c, member.user_id, error)
      return listPage(c, await readTeam(c), refused)
    }
  })

/** Removes a member, or lets one leave. Revokes their API keys too if the form says so. @returns whether it does */
async function end(c: Context<HttpEnv>, member: MemberChange): Promise<boolean> {
  const keys = c.get('form').get('revoke_keys') === 'true'
  if (keys) requireScopes(userOf(c), ['api_keys:write'])
  if (keys) await removeWithKeys(c.get('rt'), member, changeOf(c))
  else await removeMember(c.get('rt').directory, member, changeOf(c))
  return keys
}

/** The member that the path names, and the authority of the user. */
function named(c: Context<HttpEnv>): MemberChange {
  return memberOf(c, c.req.param('user') ?? '')
}

function memberOf(c: Context<HttpEnv>, user_id: string): MemberChange {
  const user = userOf(c)
  return { project_id: projectOf(user), user_id, authority: authorityOf(user) }
}

/** Whether the project would have no owner without the member. */
function isOnlyOwner({ member, alone }: { member: Member; alone: boolean }): boolean {
  return member.role === 'owner' && alone
}

/** The invitation that the path names, and the authority of the user. */
function addressed(c: Context<HttpEnv>) {
  const user = userOf(c)
  return { project_id: projectOf(user), id: c.req.param('id') ?? '', authority: authorityOf(user) }
}

async function required(c: Context<HttpEnv>, userId: string) {
  const { member, ...rest } = (await readAffected(c, userId)) as Affected
  if (!member) throw notFound('Member')
  return { ...rest, member }
}

async function readInvitation(c: Context<HttpEnv>) {
  const { directory } = c.get('rt')
  const { project_id, id } = addressed(c)
  return requireFound(await run(directory, findInvitation(directory, project_id, id)), 'Invitation')
}

function toList(c: Context<HttpEnv>, done?: NoticeName) {
  return c.redirect(done ? `${pathsOf(c).members}?done=${done}` : pathsOf(c).members, 303)
}
