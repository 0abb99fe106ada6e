import { and, eq, exists, inArray, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedEach, auditedFrom, type Change } from '../audit/store'
import { batch, ConstraintError, type Directory } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { ROLES, type Role, rankOf } from '../lib/access'
import { Fault, notFound, requireFound } from '../lib/fault'
import { isOpenIn } from '../tenancy/invited'
import { formerMembers, invitations, members, projects } from '../tenancy/schema'
import { type Authority, requireManager, requireReach } from './authority'
import { hasAuthority, rankIn, selectRole } from './authority-store'
import { MAX_PENDING } from './limits'
import { findMember, type Member } from './store'
import { unprovenRemoved } from './unlink-store'

const glass = alias(members, 'glass')

/** A member to change, and with whose authority. */
export type MemberChange = { project_id: string; user_id: string; authority: Authority }

/**
 * Gives a member a role. The same role again changes nothing. Open invitations that the member has authorized end if they
 * offer more than the new role may give.
 *
 * @param given.known the role that the caller saw: if the member has another one now, nothing changes
 * @returns the member as they are then
 * @throws {Fault} `not_found`, `last_owner`, `break_glass_missing`, and what {@link requireManager} and {@link requireReach} throw
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
      by: selectRole(directory, project_id, authority.user_id),
      before: findMember(directory, project_id, user_id),
      audit: auditedFrom(directory, change, entry('member.role_changed', user_id), {
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
  requireReach(authority, manager, [role, member.role])
  return known === undefined || known === member.role
    ? { ...member, role, break_glass: role === 'owner' && member.break_glass }
    : member
}

/**
 * Removes a member, or lets a member leave, which every user may, in every role. Open invitations that the member has
 * authorized end if they offer admin or owner; the others are the project's.
 *
 * @throws {Fault} `not_found`, `last_owner`, `break_glass_missing`, and what {@link requireManager} and {@link requireReach} throw
 */
export async function removeMember(directory: Directory, removal: MemberChange, change: Change): Promise<void> {
  const { project_id, user_id, authority } = removal
  const leaving = leaves(removal)
  const condition = and(
    ofMember(project_id, user_id),
    leaving
      ? lte(rankIn(members.role), authority.rank)
      : hasAuthority(directory, project_id, authority, [members.role]),
  )
  const action = leaving ? 'member.left' : 'member.removed'
  const { by, before } = await refusingTriggers(
    batch(directory, {
      ...beforeRemoval(directory, removal),
      audit: auditedFrom(directory, change, entry(action, user_id), {
        taken: { project_id: members.project_id, details: sql`json_object('role', ${members.role})` },
        from: sql`FROM ${members} WHERE ${condition}`,
      }),
      ...offersEnded(directory, { project_id, user_id, condition, kept: -1 }, change),
      ...enforcementEnded(directory, { project_id, user_id, condition }, change),
      former: insertFrom(
        directory,
        formerMembers,
        { project_id: members.project_id, user_id: members.user_id },
        sql`FROM ${members} WHERE ${condition} ON CONFLICT DO NOTHING`,
      ),
      removed: directory.delete(members).where(condition),
    }),
  )
  requireRemovable(removal, by[0]?.role ?? null, before[0])
}

/** Reads what decides whether a member may be removed: see {@link requireRemovable}. */
export function beforeRemoval(directory: Directory, { project_id, user_id, authority }: MemberChange) {
  return {
    by: selectRole(directory, project_id, authority.user_id),
    before: findMember(directory, project_id, user_id),
  }
}

/**
 * @param by the role of the user of the authority
 * @throws {Fault} `not_found`, and what {@link requireManager} and {@link requireReach} throw
 */
export function requireRemovable(removal: MemberChange, by: Role | null, member: Member | undefined): void {
  if (!leaves(removal)) requireManager(removal.authority, by)
  if (!member) throw notFound('Member')
  requireReach(removal.authority, by, [member.role])
}

/** Whether a user removes themselves. An API key is not its user. */
function leaves({ user_id, authority }: MemberChange): boolean {
  return !authority.key && authority.user_id === user_id
}

/** Reads a row if the user is the only one with break-glass access to a project that enforces single sign-on. */
export function onlyBreakGlass(directory: Directory, projectId: string, userId: string) {
  return directory
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.id, projectId), isOnlyBreakGlass(directory, userId)))
}

/** Whether the user is the only one with break-glass access to the project of a statement, which enforces single sign-on. */
export function isOnlyBreakGlass(directory: Directory, userId: string): SQL {
  const marked = (of: SQL) =>
    directory
      .select({ one: sql`1` })
      .from(glass)
      .where(and(eq(glass.project_id, projects.id), eq(glass.break_glass, true), of))
  return sql`(${projects.sso_enforced_by} IS NOT NULL AND EXISTS ${marked(eq(glass.user_id, userId))}
    AND NOT EXISTS ${marked(ne(glass.user_id, userId))})`
}

/** Reads whether a project has an owner besides a user. */
export function otherOwners(directory: Directory, projectId: string, userId: string) {
  return directory
    .select({ user_id: members.user_id })
    .from(members)
    .where(and(eq(members.project_id, projectId), eq(members.role, 'owner'), ne(members.user_id, userId)))
    .limit(1)
}

/**
 * Revokes the open invitations of a member, with an audit row for each, that offer more than `kept`, and admin or owner at
 * least. They come before the change of the member, under its condition.
 */
function offersEnded(
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

/**
 * A deleted project stops enforcing single sign-on with the last member who has break-glass access: its connection signs nobody
 * in, so nobody could restore it. They come before the removal, under its condition. Of a live project, a trigger refuses that.
 */
function enforcementEnded(
  directory: Directory,
  { project_id, user_id, condition }: { project_id: string; user_id: string; condition: SQL | undefined },
  change: Change,
) {
  const leaving = directory.select({ one: sql`1` }).from(members).where(condition)
  const ending = and(
    eq(projects.id, project_id),
    isNotNull(projects.deleted_at),
    isOnlyBreakGlass(directory, user_id),
    exists(leaving),
  )
  return {
    auditedEnforcement: auditedFrom(
      directory,
      change,
      { action: 'sso_connection.updated', object_type: 'sso_connection', object_id: '', details: { enforce: false } },
      {
        taken: { project_id: projects.id, object_id: projects.sso_enforced_by },
        from: sql`FROM ${projects} WHERE ${ending}`,
      },
    ),
    endedEnforcement: directory.update(projects).set({ sso_enforced_by: null }).where(ending),
  }
}

function ofMember(projectId: string, userId: string) {
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

function entry(action: string, object_id: string) {
  return { action, object_type: 'member', object_id }
}
