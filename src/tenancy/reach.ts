import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { sessions } from '../accounts/schema'
import type { Runtime } from '../env'
import { Fault } from '../lib/fault'
import { projects } from './schema'
import { type Settings, settingsOf } from './settings'

/** The single sign-on connection that opened a session, and its project. */
export type SsoSession = { connection_id: string; project_id: string }

/** A user whose session a statement reads for. `sso`: null if a code or a passkey opened it. */
export type Viewer = { user_id: string; sso: SsoSession | null }

/** What a project says about sessions, and about this member. */
type Target = {
  settings: Partial<Settings> | null
  sso_enforced_by: string | null
  break_glass: boolean | null
}

/**
 * Refuses a session where it does not act: one from single sign-on outside of its connection's project and the projects that
 * trust the connection; any other where the project enforces a connection, except of an owner with break-glass access. Each
 * call about a project needs it, also one that names the project only in its path.
 *
 * @throws {Fault} `not_a_member`, `sso_required`
 */
export function requireReach({ settings }: Runtime, sso: SsoSession | null, projectId: string, target: Target): void {
  if (sso !== null && !isWithin(sso, projectId, target)) {
    throw new Fault(
      'not_a_member',
      'Project not found, or this session does not reach it: single sign-on opened the session, and it reaches only the project of its connection. Sign in with a code or a passkey.',
    )
  }
  const enforced = target.sso_enforced_by
  // Break-glass access is for codes and passkeys, whose use is logged: not for what another provider says.
  if (enforced === null || !isElsewhere(sso, target)) return
  const address = `${settings.publicOrigin ?? ''}${startPath(enforced)}`
  throw new Fault(
    'sso_required',
    `This project requires its own single sign-on. Open ${address} in a browser to sign in.`,
    { connection: enforced },
  )
}

/** Whether a project takes another single sign-on than a session has, so that the session does not act there. */
export function isElsewhere(
  sso: SsoSession | null,
  { sso_enforced_by, break_glass }: Pick<Target, 'sso_enforced_by' | 'break_glass'>,
): boolean {
  if (sso_enforced_by === null || sso_enforced_by === sso?.connection_id) return false
  return sso !== null || !break_glass
}

/** The path that begins a sign-in with a connection. */
export function startPath(connection: string, next?: string): string {
  return `/auth/sso/start?${new URLSearchParams({ connection, ...(next && { next }) })}`
}

function isWithin({ connection_id, project_id }: SsoSession, projectId: string, { settings }: Target): boolean {
  return project_id === projectId || settingsOf(settings).trusted_connections.includes(connection_id)
}

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
