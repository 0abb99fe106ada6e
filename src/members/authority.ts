import { and, eq, gte, inArray, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Directory } from '../db/client'
import type { Actor } from '../http/actor'
import { confirmationRequired } from '../http/policy'
import { ROLE_SCOPES, type Role, rankOf, roleOfScopes } from '../lib/access'
import { Fault } from '../lib/fault'
import { rankIn, scopeDormant } from '../tenancy/people'
import { members } from '../tenancy/schema'

/**
 * The authority with which a caller changes members. Statements check the role that the user has at that moment.
 */
export type Authority = {
  /** The user of the session, or the one who was last handed the secret of the API key: an invitation counts as theirs. */
  user_id: string
  /** The users whose roles count, all of them: that one, and who minted the API key. */
  users: readonly string[]
  /** The highest rank that the credential itself allows; -1 if it allows none. */
  rank: number
  /** Whether the caller is an API key. */
  key: boolean
}

/**
 * An actor gives and changes roles up to their own. A session that is not confirmed reaches up to developer, because an admin
 * can keep a project: by keys, invitations and single sign-on. An API key acts as the highest role of which it has all scopes.
 */
export function authorityOf(actor: Actor): Authority {
  if (actor.type === 'session') {
    const { user_id } = actor
    return { user_id, users: [user_id], rank: rankOf(actor.confirmed ? 'owner' : 'developer'), key: false }
  }
  const role = roleOfScopes(actor.scopes)
  const { users, minted_by } = actor
  return { user_id: users.at(-1) ?? minted_by, users, rank: role === null ? -1 : rankOf(role), key: true }
}

/**
 * Checks the role that the users of an authority had when the statement ran.
 *
 * @param role the lowest one of theirs; null if one was not a member
 * @throws {Fault} `not_a_member`, `insufficient_role`; `insufficient_scope` for an API key of which a user lacks the role
 */
export function requireManager({ key }: Authority, role: Role | null): void {
  const missing = 'members:write'
  if (role !== null && ROLE_SCOPES[role].includes(missing)) return
  if (key) throw scopeDormant(missing)
  if (role === null) throw new Fault('not_a_member', 'Project not found, or you are not a member of it.')
  throw new Fault('insufficient_role', 'This call requires the role admin or higher.', { missing })
}

/**
 * Checks that an authority reaches up to each of these roles.
 *
 * @param role that the users of the authority had when the statement ran: the lowest one
 * @throws {Fault} `role_escalation`; `confirmation_required` if only that is missing
 */
export function requireRank({ rank, key }: Authority, role: Role | null, roles: readonly Role[]): void {
  const held = role === null ? -1 : rankOf(role)
  const above = roles.find((one) => rankOf(one) > Math.min(rank, held))
  if (above === undefined) return
  if (!key && rankOf(above) <= held) throw confirmationRequired()
  const own = key
    ? 'This API key lacks scopes of that role, or the user who minted it or received its secret has a lower role.'
    : `Your role is ${role}.`
  throw new Fault(
    'role_escalation',
    `You can give and change roles up to your own. This call involves the role ${above}. ${own}`,
  )
}

/** The member with whose authority a statement writes. */
const by = alias(members, 'by_authority')

/**
 * The condition of every statement that changes members or invitations: each user of the authority is a member now who
 * manages members, and whose role, like the credential itself, reaches up to each of these roles.
 */
export function hasAuthority(
  directory: Directory,
  projectId: string,
  { users, rank }: Authority,
  roles: readonly (Role | SQLWrapper)[] = [],
): SQL {
  const ranks = roles.map((role) => (typeof role === 'string' ? sql`${rankOf(role)}` : rankIn(role)))
  const holder = and(
    eq(by.project_id, projectId),
    inArray(by.user_id, [...users]),
    gte(rankIn(by.role), rankOf('admin')),
    ...ranks.map((one) => sql`${rankIn(by.role)} >= ${one} AND ${rank} >= ${one}`),
  )
  return sql`${directory.select({ holders: sql`count(*)` }).from(by).where(holder)} = ${users.length}`
}
