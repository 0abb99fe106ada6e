import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { projects } from '../projects/schema'
import type { SsoSession } from './reach'
import { sessions } from './schema'

const reached = alias(projects, 'reached')

/** Whether a session reaches a project: a condition of what it reads. None for a session that a code or a passkey opened. */
export function reaches(sso: SsoSession | null, projectId: Column): SQL | undefined {
  if (sso === null) return undefined
  return sql`(${projectId} = ${sso.project_id} OR EXISTS (
    SELECT 1 FROM ${projects} ${reached}, json_each(${reached.settings}, '$.trusted_connections') trusted
    WHERE ${reached.id} = ${projectId} AND trusted.value = ${sso.connection_id}))`
}

/** Whether a session may see and end another one of its user: one from single sign-on only those of the same connection. */
export function reachesSession(sso: SsoSession | null): SQL | undefined {
  return sso === null ? undefined : sql`${sessions.connection_id} = ${sso.connection_id}`
}
