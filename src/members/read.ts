import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import type { Directory } from '../db/client'
import type { Role } from '../lib/access'
import { members } from '../tenancy/schema'

/** A member of a project, as shown. */
export type Member = Awaited<ReturnType<typeof findMember>>[number]

/** Reads one member of a project. */
export function findMember(directory: Directory, projectId: string, userId: string) {
  const one = and(eq(members.project_id, projectId), eq(members.user_id, userId))
  const found = directory.select().from(members).where(one).as('found')
  return withAddress(directory, found)
}

/** A page of members. `before`: the {@link memberKey} of the last one of the previous page. */
type MembersAsked = { role?: Role | undefined; before: string | null; limit: number }

/** Reads members of a project, newest first. */
export function listMembers(directory: Directory, projectId: string, { role, before, limit }: MembersAsked) {
  const { created_at, user_id } = members
  const [time, id] = before === null ? [] : before.split(':')
  const after: SQL | undefined =
    before === null ? undefined : sql`(${created_at}, ${user_id}) < (${Number(time)}, ${id ?? ''})`
  const found = directory
    .select()
    .from(members)
    .where(and(eq(members.project_id, projectId), role === undefined ? undefined : eq(members.role, role), after))
    .orderBy(desc(created_at), desc(user_id))
    .limit(limit)
    .as('found')
  return withAddress(directory, found).orderBy(desc(found.created_at), desc(found.user_id))
}

/** What the list of members is sorted by. */
export function memberKey({ created_at, user_id }: Pick<Member, 'created_at' | 'user_id'>): string {
  return `${created_at}:${user_id}`
}

/** The rows of a page with their users' addresses: only they are joined, however many members there are. */
function withAddress(directory: Directory, found: ReturnType<typeof allMembers>) {
  return directory
    .select({
      user_id: found.user_id,
      email: users.email,
      role: found.role,
      source: found.source,
      invited_by: found.invited_by,
      created_at: found.created_at,
      break_glass: found.break_glass,
      mail: found.mail,
    })
    .from(found)
    .innerJoin(users, eq(users.id, found.user_id))
    .$dynamic()
}

function allMembers(directory: Directory) {
  return directory.select().from(members).as('found')
}

/** Reads the addresses of the owners with break-glass access to a project. */
export function breakGlassOwners(directory: Directory, projectId: string) {
  return directory
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.user_id))
    .where(and(eq(members.project_id, projectId), eq(members.break_glass, true)))
    .orderBy(users.email)
}
