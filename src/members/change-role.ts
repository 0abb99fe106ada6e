import { and, eq, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { auditedEach, auditedFrom, type Change } from '../audit/store'
import { batch, ConstraintError, type Directory } from '../db/client'
import { ROLES, type Role, rankOf } from '../lib/access'
import { Fault, requireFound } from '../lib/fault'
import { isOpenIn } from '../tenancy/invited'
import { selectRole } from '../tenancy/people'
import { invitations, members } from '../tenancy/schema'
import { type Authority, hasAuthority, requireManager, requireRank } from './authority'
import { MAX_PENDING } from './limits'
import { findMember, type Member } from './read'
import { unprovenRemoved } from './unlink'

/** A member to change, and with whose authority. */
export type MemberChange = { project_id: string; user_id: string; authority: Authority }

/**
 * Gives a member a role. The same role again changes nothing. Open invitations that the member has authorized end if they
 * offer more than the new role may give.
 *
 * @param given.known the role that the caller saw: if the member has another one now, nothing changes
 * @returns the member as they are then
 * @throws {Fault} `not_found`, `last_owner`, `break_glass_missing`, and what {@link requireManager} and {@link requireRank} throw
 */
export async function changeRole(
  directory: Directory,
  { project_id, user_id, authority }: MemberChange,
  { role, known }: { role: Role; known?: Role | undefined },
  change: Change,
): Promise<Member> {
  const condition = and(
    ofMember(project_id, user_id),
    ne(members.role, role),
    known && eq(members.role, known),
    hasAuthority(directory, project_id, authority, [role, members.role]),
  )
  // Only owners have the mark, and no other role keeps it.
  const kept = role === 'owner' ? members.break_glass : false
  const details = sql`json_object('from', ${members.role}, 'to', ${role})`
  const { by, before } = await refusingTriggers(
    batch(directory, {
      by: selectRole(directory, project_id, authority.users),
      before: findMember(directory, project_id, user_id),
      audit: auditedFrom(directory, change, memberEntry('member.role_changed', user_id), {
        taken: { project_id: members.project_id, details },
        from: sql`FROM ${members} WHERE ${condition}`,
      }),
      ...offersEnded(directory, { project_id, user_id, condition, kept: rankOf(role) }, change),
      ...(role === 'owner' &&
        unprovenRemoved(
          directory,
          user_id,
          sql`SELECT ${members.project_id} FROM ${members} WHERE ${condition}`,
          change,
        )),
      changed: directory.update(members).set({ role, break_glass: kept }).where(condition),
    }),
  )
  const manager = by[0]?.role ?? null
  requireManager(authority, manager)
  const member = requireFound(before, 'Member')
  requireRank(authority, manager, [role, member.role])
  return known === undefined || known === member.role
    ? { ...member, role, break_glass: role === 'owner' && member.break_glass }
    : member
}

/**
 * Revokes the open invitations of a member, with an audit row for each, that offer more than `kept`, and admin or owner at
 * least. They come before the change of the member, under its condition.
 */
export function offersEnded(
  directory: Directory,
  {
    project_id,
    user_id,
    condition,
    kept,
  }: { project_id: string; user_id: string; condition: SQL | undefined; kept: number },
  change: Change,
) {
  const offered = ROLES.filter((role) => rankOf(role) > kept && rankOf(role) >= rankOf('admin'))
  const changes = directory.select({ one: sql`1` }).from(members).where(condition)
  const ending = and(
    isOpenIn(project_id, change.now),
    eq(invitations.authorized_by, user_id),
    inArray(invitations.role, [...offered]),
    sql`EXISTS ${changes}`,
  )
  if (offered.length === 0) return {}
  const objects = directory.select({ id: invitations.id }).from(invitations).where(ending)
  const each = {
    project_id,
    action: 'invitation.revoked',
    object_type: 'invitation',
    details: { with_member: user_id },
  }
  return {
    auditedOffers: auditedEach(directory, change, each, { objects, most: MAX_PENDING }),
    endedOffers: directory.update(invitations).set({ state: 'revoked', closed_by: change.actor.id }).where(ending),
  }
}

export function ofMember(projectId: string, userId: string) {
  return and(eq(members.project_id, projectId), eq(members.user_id, userId))
}

/** Triggers refuse the change that would leave a project without an owner, or without a way past its single sign-on. */
export async function refusingTriggers<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof ConstraintError && error.message.includes('last_owner')) throw lastOwner()
    if (error instanceof ConstraintError && error.message.includes('break_glass_missing')) throw lastBreakGlass()
    throw error
  }
}

export function lastOwner(): Fault {
  return new Fault('last_owner', 'This is the only owner of the project. Make another member an owner first.')
}

export function lastBreakGlass(): Fault {
  return new Fault(
    'break_glass_missing',
    'The project enforces single sign-on, and this is the only owner with break-glass access. Give it to another owner first, or stop enforcing single sign-on.',
  )
}

export function memberEntry(action: string, object_id: string) {
  return { action, object_type: 'member', object_id }
}
