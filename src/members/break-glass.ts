import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { Fault, requireFound } from '../lib/fault'
import { selectRole } from '../tenancy/people'
import { members, projects } from '../tenancy/schema'
import { type Authority, hasAuthority, requireManager, requireRank } from './authority'
import { type MemberChange, refusingTriggers } from './change-role'
import { findMember } from './read'

/**
 * Gives an owner break-glass access, or takes it away. What is so already stays.
 *
 * @throws {Fault} `not_found`, `not_an_owner`, `break_glass_missing`, and what {@link requireManager} and
 *   {@link requireRank} throw
 */
export async function setBreakGlass(
  directory: Directory,
  { project_id, user_id, authority }: MemberChange,
  on: boolean,
  change: Change,
): Promise<void> {
  const condition = and(
    eq(members.project_id, project_id),
    eq(members.user_id, user_id),
    eq(members.role, 'owner'),
    ne(members.break_glass, on),
    hasAuthority(directory, project_id, authority, ['owner']),
  )
  const action = on ? 'member.break_glass_given' : 'member.break_glass_taken'
  const { by, member } = await refusingTriggers(
    batch(directory, {
      audit: auditedFrom(
        directory,
        change,
        { action, object_type: 'member', object_id: user_id },
        { taken: { project_id: members.project_id }, from: sql`FROM ${members} WHERE ${condition}` },
      ),
      changed: directory.update(members).set({ break_glass: on }).where(condition),
      by: selectRole(directory, project_id, authority.users),
      member: findMember(directory, project_id, user_id),
    }),
  )
  requireOwner(authority, by[0]?.role ?? null)
  const { role } = requireFound(member, 'Member')
  if (role !== 'owner' && on) {
    throw new Fault('not_an_owner', 'Only an owner can have break-glass access. Make the member an owner first.')
  }
}

function requireOwner(authority: Authority, role: Parameters<typeof requireManager>[1]): void {
  requireManager(authority, role)
  if (role !== 'owner') throw new Fault('insufficient_role', 'Only an owner can give and take break-glass access.')
  requireRank(authority, role, ['owner'])
}

export const glass = alias(members, 'glass')

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
