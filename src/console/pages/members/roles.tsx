import { Hono } from 'hono'
import * as z from 'zod'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireConfirmed, requireScopes } from '../../../http/policy'
import { type Role, rankOf } from '../../../lib/access'
import { roleWords } from '../../../lib/access-words'
import { notFound } from '../../../lib/fault'
import { authorityOf, requireRank } from '../../../members/authority'
import { setBreakGlass } from '../../../members/break-glass'
import { changeRole, lastOwner, type MemberChange } from '../../../members/change-role'
import { RoleName } from '../../../members/fields'
import type { Member } from '../../../members/read'
import { removeMember, removeWithKeys, requireRemovable } from '../../../members/remove'
import { type Ask, action, askPage, leadTo } from '../../action'
import { needsConfirmation, toConfirm } from '../../lead'
import { pathsOf, type Visit } from '../../page'
import { EXPLAINED, parse, Refused } from '../../refusal'
import { userOf } from '../../session'
import { Cannot } from '../../ui/cannot'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Consequences, MintedKeys } from './consequences'
import { showTeam } from './list'
import { type Affected, readAffected } from './read'

type Of = Affected & { member: Member }

const RoleForm = z.object({ role: RoleName, from: RoleName })

const change = action({
  posts: '/:user/role',
  needs: 'members:write',
  run: async (c) => {
    const form = c.get('form')
    const member = named(c)
    const { role, from } = parse(RoleForm, Object.fromEntries(form))
    try {
      if (rankOf(role) < rankOf(from) && form.get('sure') !== 'true') {
        requireRank(member.authority, userOf(c).role, [from])
        const of = await required(c, member.user_id)
        if (isOnlyOwner(of)) throw lastOwner()
        if (of.member.role !== from) throw outOfDate(of.member.role)
        return askPage(c, demotion(c, of, role))
      }
      const now = await changeRole(c.get('rt').directory, member, { role, known: from }, changeOf(c))
      if (now.role !== role) throw outOfDate(now.role)
      return leadTo(c, pathsOf(c).members, role === from ? undefined : 'role_changed')
    } catch (error) {
      // The page that asks before a lower role is an answer to a form, so it cannot be returned to.
      if (needsConfirmation(error)) return toConfirm(c, pathsOf(c).members)
      throw error
    }
  },
  done: (_, response) => response,
  again: (c, sent) => showTeam(c, { ...sent, at: named(c).user_id }),
  explains: EXPLAINED.team,
})

/** A form about a member whose role is not the one that the page showed. */
function outOfDate(role: string): Refused {
  return new Refused({ form: `This page was out of date: the role is ${role} now. Nothing was changed.` }, 409)
}

/** What is asked before a member gets a lower role. */
function demotion(c: Visit, of: Of, role: Role): Ask {
  const { member } = of
  const own = member.user_id === userOf(c).user_id
  const fields = { role, from: member.role, sure: 'true' }
  return {
    ...placed(c),
    title: 'Change role',
    question: own ? `Give up the role ${member.role}?` : `Make ${member.email} ${role}?`,
    says: (
      <>
        <p>
          {own ? 'You are' : 'The member is'} {member.role} now. The new role takes effect with the next request.
        </p>
        <p>
          <strong>{capital(role)}</strong>: {roleWords(role, 'Can')}
        </p>
        {own && <p>You cannot undo this yourself: someone else must give you the role back.</p>}
        <Consequences c={c} of={of} kept={role} whose={own ? 'you' : 'they'} />
      </>
    ),
    choice: Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} autocomplete="off" />
    )),
    verb: 'Change role',
    danger: true,
  }
}

const breakGlass = action({
  posts: '/:user/break-glass',
  needs: 'members:write',
  requires: (c) => requireConfirmed(userOf(c)),
  run: async (c) => {
    const on = c.get('form').get('on') === 'true'
    await setBreakGlass(c.get('rt').directory, named(c), on, changeOf(c))
    return on
  },
  done: (c, on) => [pathsOf(c).members, on ? 'break_glass_given' : 'break_glass_taken'],
  again: (c, sent) => showTeam(c, { ...sent, at: named(c).user_id }),
  explains: EXPLAINED.team,
})

/** The only owner is told why leaving is not possible. */
const leave = action({
  at: '/leave',
  needs: 'members:read',
  counted: { ends: true },
  read: async (c) => {
    const { user_id, role } = userOf(c)
    const of = await required(c, user_id)
    if (!isOnlyOwner(of)) requireRemovable(memberOf(c, user_id), role, of.member)
    return of
  },
  ask: (c, of, { status }) => {
    const view = { ...placed(c), title: 'Leave the project' }
    if (isOnlyOwner(of)) return show(c, { ...view, status }, <Stay to={pathsOf(c).members} />)
    return {
      ...view,
      question: 'Leave this project?',
      says: (
        <>
          <p>
            You are {of.member.role} of this project. You lose access immediately, and can come back only if someone
            invites you again. Your other projects are not affected.
          </p>
          <Consequences c={c} of={of} kept={null} whose="you" />
        </>
      ),
      choice: <MintedKeys c={c} of={of} whose="you" />,
      verb: 'Leave project',
      danger: true,
    }
  },
  run: (c) => end(c, memberOf(c, userOf(c).user_id)),
  done: () => ['/console', 'project_left'],
  explains: EXPLAINED.team,
})

function Stay({ to }: { to: string }) {
  return (
    <Cannot title="You cannot leave this project" back={['Back to the members', to]}>
      <p>You are its only owner, and a project must have an owner. Make another member an owner first, then leave.</p>
    </Cannot>
  )
}

const remove = action({
  at: '/:user/remove',
  needs: 'members:write',
  counted: { ends: true },
  read: async (c) => {
    const removal = named(c)
    if (removal.user_id === userOf(c).user_id) return null
    const of = await required(c, removal.user_id)
    requireRemovable(removal, userOf(c).role, of.member)
    return of
  },
  ask: (c, of) => {
    if (of === null) return leadTo(c, `${pathsOf(c).members}/leave`)
    return {
      ...placed(c),
      title: 'Remove member',
      question: `Remove ${of.member.email}?`,
      says: (
        <>
          <p>
            {capital(of.member.role)} of this project. They lose access immediately. Their other projects are not
            affected, and you can invite them again.
          </p>
          <Consequences c={c} of={of} kept={null} whose="they" />
        </>
      ),
      choice: <MintedKeys c={c} of={of} whose="they" />,
      verb: 'Remove member',
      danger: true,
    }
  },
  run: (c) => end(c, named(c)),
  done: (c, keys) => [pathsOf(c).members, keys ? 'member_removed_with_keys' : 'member_removed'],
  again: (c, sent) => showTeam(c, { ...sent, at: named(c).user_id }),
  explains: EXPLAINED.team,
})

/** What changes who is a member, and in which role. */
export const rolePages = new Hono<HttpEnv>()
  .route('/', leave)
  .route('/', change)
  .route('/', breakGlass)
  .route('/', remove)

function placed(c: Visit) {
  return { section: 'members', above: ['Members', pathsOf(c).members] } as const
}

/** Removes a member, or lets one leave. Revokes their API keys too if the form says so. @returns whether it does */
async function end(c: Visit, member: MemberChange): Promise<boolean> {
  const keys = c.get('form').get('revoke_keys') === 'true'
  if (keys) requireScopes(userOf(c), ['api_keys:write'])
  if (keys) await removeWithKeys(c.get('rt'), member, changeOf(c))
  else await removeMember(c.get('rt').directory, member, changeOf(c))
  return keys
}

/** The member that the path names, and the authority of the user. */
function named(c: Visit): MemberChange {
  return memberOf(c, c.req.param('user') ?? '')
}

function memberOf(c: Visit, user_id: string): MemberChange {
  const user = userOf(c)
  return { project_id: projectOf(user), user_id, authority: authorityOf(user) }
}

/** Whether the project would have no owner without the member. */
function isOnlyOwner({ member, alone }: Of): boolean {
  return member.role === 'owner' && alone
}

async function required(c: Visit, userId: string): Promise<Of> {
  const { member, ...rest } = await readAffected(c, userId)
  if (!member) throw notFound('Member')
  return { ...rest, member }
}
