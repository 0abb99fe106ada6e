import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { users } from '../../accounts/schema'
import type { Directory } from '../../db/client'
import { valuesOf } from '../../db/sql'
import { domainOf } from '../../domains/names'
import { domains } from '../../domains/schema'
import type { Runtime } from '../../env'
import { ssoConnections, ssoIdentities } from '../../identities/schema'
import { isOpenInvitation } from '../../tenancy/invited'
import { formerMark } from '../../tenancy/people'
import { isDeleted } from '../../tenancy/project'
import { formerMembers, invitations, members } from '../../tenancy/schema'
import { holdsDomain, isLiveConnection } from '../connections/connection'
import type { Finishing } from '../login/logins'
import { type AdmissionFacts, FACTS } from './admission'

/**
 * A sign-in of the team. `proved`: the owner whom this browser has just proved to be, by a code or a
 * passkey, and who has agreed that the connection is linked to their account; null if none.
 * `marks`: see {@link marksOf}.
 */
export type Entering = Pick<Finishing, 'connection' | 'identified'> & {
  proved: string | null
  marks: readonly string[]
  now: number
}

/** What remembers somebody who was a member and has deleted their account since: their address, and their identity. */
export function marksOf(rt: Runtime, { connection, identified }: Pick<Entering, 'connection' | 'identified'>) {
  const { issuer, subject, email } = identified
  const known = email === null ? [] : [formerMark(rt, email.toLowerCase())]
  return Promise.all([...known, formerMark(rt, { connection_id: connection.id, issuer, subject })])
}

/** Who signs in, and what decides whether they may, as conditions of statements. */
export type Entrant = ReturnType<typeof entrantOf>

export function entrantOf(db: Directory, { connection, identified, proved, marks, now }: Entering) {
  const { project_id, id } = connection
  const { issuer, subject, email } = identified
  const address = email?.toLowerCase() ?? ''
  const identity = and(
    eq(ssoIdentities.connection_id, id),
    eq(ssoIdentities.issuer, issuer),
    eq(ssoIdentities.subject, subject),
  )
  const known = sql`(SELECT ${ssoIdentities.user_id} FROM ${ssoIdentities} WHERE ${identity})`
  const byAddress = sql`(SELECT ${users.id} FROM ${users} WHERE ${eq(users.email, address)})`
  const user = sql`coalesce(${known}, ${byAddress})`
  const addressOfUser = sql`coalesce((SELECT ${users.email} FROM ${users} WHERE ${eq(users.id, user)}), ${address})`
  const one = { one: sql`1` }
  const active = and(isLiveConnection(project_id, id), eq(ssoConnections.state, 'active'))
  const isMember = and(eq(members.project_id, project_id), eq(members.user_id, user))
  const remembered = or(eq(formerMembers.user_id, user), inArray(formerMembers.user_id, [...marks]))
  const isFormer = and(eq(formerMembers.project_id, project_id), remembered)
  const isInvited = and(
    eq(invitations.project_id, project_id),
    eq(invitations.email, addressOfUser),
    isOpenInvitation(now),
  )
  const isOwner = and(eq(members.project_id, project_id), eq(members.user_id, byAddress), eq(members.role, 'owner'))
  const owner = sql`EXISTS ${db.select(one).from(members).where(isOwner)}`
  const facts: Record<keyof AdmissionFacts, SQL> = {
    active: sql`EXISTS ${db.select(one).from(ssoConnections).where(active)} AND NOT ${isDeleted(project_id)}`,
    holds: holdsDomain(project_id, id),
    owned: holdsDomain(project_id, id, eq(domains.hostname, domainOf(address) ?? '')),
    unproven: sql`${known} IS NULL AND ${owner} AND ${byAddress} IS NOT ${proved}`,
    linked: sql`${known} IS NOT NULL`,
    member: sql`EXISTS ${db.select(one).from(members).where(isMember)}`,
    former: sql`EXISTS ${db.select(one).from(formerMembers).where(isFormer)}`,
    invited: sql`EXISTS ${db.select(one).from(invitations).where(isInvited)}`,
  }
  return {
    address,
    identity,
    /** The user whom the identity stands for. */
    known,
    /** The user who has the address. */
    byAddress,
    facts,
  }
}

/** Reads what decides whether somebody may sign in with a connection of the team. */
export function selectFacts(db: Directory, { facts }: Entrant) {
  const read = (name: keyof AdmissionFacts) => [name, sql<boolean>`(${facts[name]})`.mapWith(Boolean).as(name)]
  const fields: Record<keyof AdmissionFacts, SQL.Aliased<boolean>> = Object.fromEntries(FACTS.map(read))
  return db.select(fields).from(sql`(SELECT 1)`)
}

/**
 * The condition that what is true when a statement runs is as `decides` wants it. So a rule of the code decides in the
 * transaction itself: it is asked about all that can be true, and the statement looks its facts up in what it said.
 */
export function whenFacts({ facts }: Entrant, decides: (facts: AdmissionFacts) => boolean): SQL {
  const factsIn = (bits: number) =>
    Object.fromEntries(FACTS.map((name, i) => [name, (bits & (1 << i)) !== 0])) as AdmissionFacts
  const wanted = Array.from({ length: 1 << FACTS.length }, (_, bits) => bits).filter((bits) => decides(factsIn(bits)))
  const bits = FACTS.map((name, i) => sql`((${facts[name]}) << ${sql.raw(`${i}`)})`)
  return sql`(${sql.join(bits, sql` | `)}) IN ${valuesOf(wanted)}`
}
