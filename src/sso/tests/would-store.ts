import { and, eq, sql } from 'drizzle-orm'
import { users } from '../../accounts/schema'
import type { Directory } from '../../db/client'
import { ssoIdentities } from '../../identities/schema'
import { members } from '../../tenancy/schema'
import type { SsoConnection } from '../connections/store'
import type { Identified } from '../oidc/client'

/**
 * Reads whom a sign-in for the team would be: the user of the identity, or the one with the address, with their role in the
 * project.
 *
 * @param email in lower case
 */
export function findPerson(
  directory: Directory,
  { project_id, id }: Pick<SsoConnection, 'project_id' | 'id'>,
  { issuer, subject }: Pick<Identified, 'issuer' | 'subject'>,
  email: string | null,
) {
  const { connection_id, issuer: by, subject: who, user_id } = ssoIdentities
  const isKnown = and(eq(connection_id, id), eq(by, issuer), eq(who, subject))
  const known = directory.select({ user_id }).from(ssoIdentities).where(isKnown)
  const isPerson = sql`${users.id} = coalesce((${known}), (SELECT ${users.id} FROM ${users} WHERE ${users.email} = ${email}))`
  return directory
    .select({ email: users.email, role: members.role })
    .from(users)
    .leftJoin(members, and(eq(members.user_id, users.id), eq(members.project_id, project_id)))
    .where(isPerson)
}
