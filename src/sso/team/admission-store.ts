import { and, eq, type SQL, sql } from 'drizzle-orm'
import { users } from '../../accounts/schema'
import type { Directory } from '../../db/client'
import { domainOf } from '../../domains/names'
import { domains } from '../../domains/schema'
import { ssoConnections, ssoIdentities } from '../../identities/schema'
import { isDeleted } from '../../tenancy/ended'
import { isOpen } from '../../tenancy/invited'
import { formerMembers, invitations, members } from '../../tenancy/schema'
import { holdsDomain, live, type SsoConnection } from '../connections/connection'
import type { Identified } from '../oidc/oidc-client'

/** What decides whether somebody may sign in. */
export type Facts = Awaited<ReturnType<typeof selectFacts>>[number]

/** Reads what decides whether somebody may sign in with a connection of the team. */
export function selectFacts(
  db: Directory,
  connection: SsoConnection,
  identified: Identified,
  proved: string | null,
  now: number,
) {
  const all = conditions(db, connection, identified, proved, now)
  const { active, holds, owned, known, byAddress, unproven, isMember, isFormer, isInvited } = all
  const user = sql`coalesce(${known}, ${byAddress})`
  const flag = (condition: SQL, name: string) => sql<boolean>`${condition}`.mapWith(Boolean).as(name)
  return db
    .select({
      active: flag(active, 'active'),
      holds: flag(holds, 'holds'),
      owned: flag(owned, 'owned'),
      unproven: flag(unproven, 'unproven'),
      linked: flag(sql`${known} IS NOT NULL`, 'linked'),
      member: flag(isMember(user), 'member'),
      former: flag(isFormer(user), 'former'),
      invited: flag(isInvited(user), 'invited'),
    })
    .from(sql`(SELECT 1)`)
}

/**
 * The conditions of a sign-in, for its statements.
 *
 * @param proved the user whom this browser has just proved to be, by a code or a passkey; null if none
 */
export function conditions(
  db: Directory,
  { project_id, id }: SsoConnection,
  { issuer, subject, email }: Identified,
  proved: string | null,
  now: number,
) {
  const one = { one: sql`1` }
  const address = email?.toLowerCase() ?? ''
  const identity = and(
    eq(ssoIdentities.connection_id, id),
    eq(ssoIdentities.issuer, issuer),
    eq(ssoIdentities.subject, subject),
  )
  /** The user whom the identity stands for. */
  const known = sql`(SELECT ${ssoIdentities.user_id} FROM ${ssoIdentities} WHERE ${identity})`
  const byAddress = sql`(SELECT ${users.id} FROM ${users} WHERE ${eq(users.email, address)})`
  const active = and(live(project_id, id), eq(ssoConnections.state, 'active'))
  const isMember = (user: SQL) =>
    sql`EXISTS ${db
      .select(one)
      .from(members)
      .where(and(eq(members.project_id, project_id), eq(members.user_id, user)))}`
  const isFormer = (user: SQL) =>
    sql`EXISTS ${db
      .select(one)
      .from(formerMembers)
      .where(and(eq(formerMembers.project_id, project_id), eq(formerMembers.user_id, user)))}`
  const isOwner = (user: SQL) =>
    sql`EXISTS ${db
      .select(one)
      .from(members)
      .where(and(eq(members.project_id, project_id), eq(members.user_id, user), eq(members.role, 'owner')))}`
  const invitedAddress = (email: SQL) =>
    sql`EXISTS ${db
      .select(one)
      .from(invitations)
      .where(and(eq(invitations.project_id, project_id), eq(invitations.email, email), isOpen(now)))}`
  return {
    address,
    identity,
    active: sql`(EXISTS ${db.select(one).from(ssoConnections).where(active)} AND NOT ${isDeleted(project_id)})`,
    /** Whether any domain of the connection is verified now: without one, it signs nobody in. */
    holds: holdsDomain(project_id, id),
    /** Whether the domain of the address is one that the connection may vouch for now. */
    owned: holdsDomain(project_id, id, eq(domains.hostname, domainOf(address) ?? '')),
    known,
    byAddress,
    isMember,
    /** Whether the user has left the project or was removed. It stays so if they come back by an invitation. */
    isFormer,
    /**
     * Whether the identity would be linked to an owner who has not proved to be one. Without that, whoever sets up a provider
     * could become owner.
     */
    unproven: sql`(${known} IS NULL AND ${isOwner(byAddress)} AND ${byAddress} IS NOT ${proved})`,
    /** Whether the user, or the address if it is no user's, has an open invitation to the project. */
    isInvited: (user: SQL) =>
      invitedAddress(sql`coalesce((SELECT ${users.email} FROM ${users} WHERE ${eq(users.id, user)}), ${address})`),
  }
}
