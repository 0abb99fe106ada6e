import { and, eq, exists, isNotNull, lte, ne, type SQL, sql } from 'drizzle-orm'
import { revokeOfUser } from '../api-keys/revoke'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { insertFrom } from '../db/insert-from'
import type { Runtime } from '../env'
import type { Role } from '../lib/access'
import { notFound } from '../lib/fault'
import { rankIn, selectRole } from '../tenancy/people'
import { formerMembers, members, projects } from '../tenancy/schema'
import { hasAuthority, requireManager, requireRank } from './authority'
import { isOnlyBreakGlass, onlyBreakGlass } from './break-glass'
import {
  lastBreakGlass,
  lastOwner,
  type MemberChange,
  memberEntry,
  offersEnded,
  ofMember,
  refusingTriggers,
} from './change-role'
import { findMember, type Member } from './read'

/**
 * Removes a member, or lets a member leave, and first revokes the API keys that the member minted, and those whose secret
 * the member was given. The keys are usually in another database: if the removal fails after that step, repeating the call
 * finishes it.
 *
 * @throws {Fault} as {@link removeMember}, usually before any key is revoked
 */
export async function removeWithKeys({ directory, db }: Runtime, removal: MemberChange, change: Change): Promise<void> {
  const { project_id, user_id } = removal
  const { by, before, owners, marked } = await batch(directory, {
    ...beforeRemoval(directory, removal),
    owners: otherOwners(directory, project_id, user_id),
    marked: onlyBreakGlass(directory, project_id, user_id),
  })
  requireRemovable(removal, by[0]?.role ?? null, before[0])
  if (before[0]?.role === 'owner' && owners.length === 0) throw lastOwner()
  if (marked.length > 0) throw lastBreakGlass()
  await revokeOfUser(db, { project_id, user_id }, change)
  await removeMember(directory, removal, change)
}

/**
 * Removes a member, or lets a member leave, which every user may, in every role. Open invitations that the member has
 * authorized end if they offer admin or owner; the others are the project's.
 *
 * @throws {Fault} `not_found`, `last_owner`, `break_glass_missing`, and what {@link requireManager} and {@link requireRank} throw
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
      audit: auditedFrom(directory, change, memberEntry(action, user_id), {
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
    by: selectRole(directory, project_id, authority.users),
    before: findMember(directory, project_id, user_id),
  }
}

/**
 * @param by the lowest role of the users of the authority
 * @throws {Fault} `not_found`, and what {@link requireManager} and {@link requireRank} throw
 */
export function requireRemovable(removal: MemberChange, by: Role | null, member: Member | undefined): void {
  if (!leaves(removal)) requireManager(removal.authority, by)
  if (!member) throw notFound('Member')
  requireRank(removal.authority, by, [member.role])
}

/** Whether a user removes themselves. An API key is not its user. */
function leaves({ user_id, authority }: MemberChange): boolean {
  return !authority.key && authority.user_id === user_id
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
