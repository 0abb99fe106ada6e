import { and, eq, inArray, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import { type Directory, type Held, prepared, run } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Runtime } from '../env'
import type { Actor } from '../http/actor'
import { ifAnswered } from '../http/read'
import { dormantScopes, ROLES, type Role, rankOf, type Scope } from '../lib/access'
import { hex, hmac, utf8 } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { members } from './schema'

/** Addresses of users by their ids. */
export type People = ReadonlyMap<string, string>
/** Members of a project by the ids of their users. */
export type Roles = ReadonlyMap<string, { email: string; role: Role }>

/** @param rows null if the directory did not answer; the result is then null too */
export function rolesIn(rows: readonly (Person & { role: Role })[] | null): Roles | null {
  return rows && new Map(rows.map(({ user_id, email, role }) => [user_id, { email, role }]))
}

/** The members of a project with their roles; null if the directory does not answer. */
export async function readRoles({ directory }: Runtime, projectId: string): Promise<Roles | null> {
  return rolesIn(await ifAnswered(directory, membersOf(directory, { project_id: projectId })))
}

function peopleIn(rows: readonly Person[] | null): People | null {
  return rows && new Map(rows.map(({ user_id, email }) => [user_id, email]))
}

/** The addresses of the members of a project; null if the directory does not answer. */
export async function readMembers({ directory }: Runtime, projectId: string): Promise<People | null> {
  return peopleIn(await ifAnswered(directory, membersOf(directory, { project_id: projectId })))
}

/**
 * The addresses of users, whether or not they are members. It has none if the directory does not answer, and none for
 * ids of other things.
 */
export async function readAddresses({ directory }: Runtime, ids: readonly string[]): Promise<People> {
  const users = [...new Set(ids.filter((id) => id.startsWith('usr_')))]
  if (users.length === 0) return new Map()
  return peopleIn(await ifAnswered(directory, addressesOf(directory, users))) ?? new Map()
}

/** A user of a project, or one who did something in it. */
export type Person = { user_id: string; email: string }

/** Reads the members of a project with their addresses. */
export const membersOf = prepared((directory: Directory, { project_id }: { project_id: Held<string> }) =>
  directory
    .select({ user_id: members.user_id, email: users.email, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.user_id))
    .where(eq(members.project_id, project_id)),
)

/** Reads the addresses of users. Ids that are not of users are ignored, and so are users who were erased. */
export function addressesOf(directory: Directory, ids: readonly string[]) {
  return directory
    .select({ user_id: users.id, email: users.email })
    .from(users)
    .where(and(inArray(users.id, valuesOf(ids)), ne(users.email, users.id)))
}

/** The lowest role that one of these users has in a project; null if one is not a member. */
export function lowestRole(users: readonly string[], roles: ReadonlyMap<string, { role: Role }>): Role | null {
  const held = users.map((user) => roles.get(user)?.role)
  return held.includes(undefined) ? null : (ROLES.find((role) => held.includes(role)) ?? null)
}

/** The rank of a role in a statement: see {@link rankOf}. */
export function rankIn(role: SQLWrapper): SQL<number> {
  const cases = ROLES.map((name) => sql`WHEN ${sql.raw(`'${name}'`)} THEN ${sql.raw(String(rankOf(name)))}`)
  return sql<number>`CASE ${role} ${sql.join(cases, sql` `)} END`
}

/** Reads the lowest role that one of these users has in a project: {@link lowestRole}. No row if one is not a member. */
export function selectRole(directory: Directory, projectId: string, users: readonly string[]) {
  return directory
    .select({ role: members.role, rank: sql<number>`min(${rankIn(members.role)})` }) // the role is that of the lowest rank
    .from(members)
    .where(and(eq(members.project_id, projectId), inArray(members.user_id, [...users])))
    .groupBy(members.project_id)
    .having(sql`count(*) = ${users.length}`)
}

/** Whether a scope of an actor counts now. Only an administrative scope of an API key is asked about: see `ADMINISTRATIVE`. */
export async function isAwake(directory: Directory, actor: Actor, scope: Scope): Promise<boolean> {
  if (actor.type === 'session' || dormantScopes([scope], null).length === 0) return true
  const [lowest] = await run(directory, selectRole(directory, actor.project_id, actor.users))
  return dormantScopes([scope], lowest?.role ?? null).length === 0
}

/** For an API key of which a user no longer has the role for one of its administrative scopes. */
export function scopeDormant(missing: Scope): Fault {
  return new Fault(
    'insufficient_scope',
    `The scope ${missing} of this API key is dormant: the user who minted the key, or the one who received its secret, no longer has the role for it. Use the API key of an admin or an owner, or a console session.`,
    { missing },
  )
}

/** What tells a person of a provider from all others. */
type Identity = { connection_id: string; issuer: string; subject: string }

/**
 * What a former member is remembered by once they have deleted their account, in place of their id: keyed hashes, so that the
 * database names nobody who was erased.
 *
 * @param of an address in lower case, or an identity of single sign-on
 */
export async function formerMark({ settings }: Runtime, of: string | Identity): Promise<string> {
  const what = typeof of === 'string' ? [of] : [of.connection_id, of.issuer, of.subject]
  return `former_${hex(await hmac('SHA-256', utf8(settings.codePepper), `former member ${JSON.stringify(what)}`))}`
}
