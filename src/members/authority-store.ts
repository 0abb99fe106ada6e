import { and, eq, gte, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Directory } from '../db/client'
import { ROLES, type Role, rankOf } from '../lib/access'
import { members } from '../tenancy/schema'
import type { Authority } from './authority'

/** The member with whose authority a statement writes. */
const by = alias(members, 'by_authority')

/** The rank of a role in a statement: see {@link rankOf}. */
export function rankIn(role: SQLWrapper): SQL<number> {
  const cases = ROLES.map((name) => sql`WHEN ${sql.raw(`'${name}'`)} THEN ${sql.raw(String(rankOf(name)))}`)
  return sql<number>`CASE ${role} ${sql.join(cases, sql` `)} END`
}

/**
 * The condition of every statement that changes members or invitations: the user of the authority is a member now who
 * manages members, and whose role, like the credential itself, reaches up to each of these roles.
 */
export function hasAuthority(
  directory: Directory,
  projectId: string,
  { user_id, rank }: Authority,
  roles: readonly (Role | SQLWrapper)[] = [],
): SQL {
  const ranks = roles.map((role) => (typeof role === 'string' ? sql`${rankOf(role)}` : rankIn(role)))
  const holder = and(
    eq(by.project_id, projectId),
    eq(by.user_id, user_id),
    gte(rankIn(by.role), rankOf('admin')),
    ...ranks.map((one) => sql`${rankIn(by.role)} >= ${one} AND ${rank} >= ${one}`),
  )
  return sql`EXISTS ${directory.select({ one: sql`1` }).from(by).where(holder)}`
}

/** Reads the role that the user of an authority has in the project. */
export function selectRole(directory: Directory, projectId: string, userId: string) {
  return directory
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.project_id, projectId), eq(members.user_id, userId)))
}
