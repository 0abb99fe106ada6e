import { and, eq, sql } from 'drizzle-orm'
import { users } from '../../accounts/schema'
import type { Directory } from '../../db/client'
import type { Runtime } from '../../env'
import { hex, hmac, utf8 } from '../../lib/crypto'
import { members, projects } from '../../tenancy/schema'
import type { SsoConnection } from '../connections/connection'

/** What an owner must know before a connection is linked to their account. `set_up_by`: null for an API key. */
export type Agreement = { project: string; set_up_by: string | null }

/**
 * Reads what a user must agree to before a connection may be linked to their account, because they are an owner of its project:
 * whoever manages the provider can act as an owner from then on. No row for anybody else.
 */
export function findAgreement(directory: Directory, { project_id, created_by }: SsoConnection, userId: string) {
  const by = sql<string | null>`(SELECT ${users.email} FROM ${users} WHERE ${users.id} = ${created_by})`
  return directory
    .select({ project: projects.name, set_up_by: by.as('set_up_by') })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.project_id))
    .where(and(eq(members.project_id, project_id), eq(members.user_id, userId), eq(members.role, 'owner')))
}

/** What the link of an agreement carries: nobody else can make it, for this session and connection. */
export async function agreementOf({ settings }: Runtime, sessionId: string, connectionId: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(settings.codePepper), `sso agreement:${sessionId}:${connectionId}`))
}
