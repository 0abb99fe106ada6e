import type { Runtime } from '../env'
import type { Actor, CredentialKind } from '../http/actor'
import { CONFIRMED_FOR } from '../http/limits'
import { writeLog } from '../http/log'
import { ROLE_SCOPES } from '../lib/access'
import { Fault } from '../lib/fault'
import { requireReach, type SsoSession } from '../tenancy/reach'
import { requireSecondFactor } from '../tenancy/second-factor'
import { SLIDE_EVERY } from './limits'
import { isSessionToken, SESSION_PREFIX, sessionEnd } from './secret'
import { type SessionCredential, sessionByHash, slideSession } from './session'

/** A console session as a credential. One D1 read gets the session and the user's role in the project. */
export const sessionCredential: CredentialKind = {
  type: 'session',
  prefix: SESSION_PREFIX,
  wellFormed: isSessionToken,
  lasting: false, // A role can change.
  enter: (rt) => rt, // The directory knows sessions.
  lookup: (rt, { hash }, projectId) => ({
    db: rt.directory,
    query: sessionByHash(rt.directory, hash, projectId),
    judge: async (rows) => judge(rt, rows[0] as SessionCredential | undefined, projectId),
  }),
  faults: ['unknown_session', 'session_expired'],
  ended: ['session_expired'],
  scheme: { name: 'console_session', description: '`svc_cs_` + 64 lower-case hex characters.' },
}

function judge(rt: Runtime, session: SessionCredential | undefined, projectId: string | null): Actor {
  if (!session) throw new Fault('unknown_session', 'Session not found. Sign in again.')
  if (session.expires_at <= rt.now) throw new Fault('session_expired', 'The session has expired. Sign in again.')
  const sso = ssoOf(session)
  if (projectId !== null) {
    if (session.role === null) throw new Fault('not_a_member', 'Project not found, or you are not a member of it.')
    requireReach(rt, sso, projectId, session)
  }
  const second_factor = session.second_factor_at !== null
  requireSecondFactor({ ...session, second_factor })
  const end = sessionEnd(session.created_at, rt.now, sso !== null)
  if (end - session.expires_at >= SLIDE_EVERY) {
    rt.waitUntil(
      slideSession(rt.directory, session.id, end, rt.now).catch((error) =>
        writeLog('warn', 'session_not_extended', { session_id: session.id, error: String(error) }),
      ),
    )
  }
  return {
    type: 'session',
    id: session.id,
    user_id: session.user_id,
    email: session.email,
    project_id: projectId,
    role: session.role,
    confirmed: session.confirmed_at + CONFIRMED_FOR > rt.now,
    second_factor,
    sso,
    scopes: session.role === null ? [] : ROLE_SCOPES[session.role],
  }
}

/** @throws {Fault} `session_expired` if the connection that opened the session is no longer active */
function ssoOf({ connection_id, sso_project_id, connection_state }: SessionCredential): SsoSession | null {
  if (connection_id === null || sso_project_id === null) return null
  if (connection_state === 'active') return { connection_id, project_id: sso_project_id }
  throw new Fault(
    'session_expired',
    'The single sign-on connection of this session is no longer active. Sign in again.',
  )
}
