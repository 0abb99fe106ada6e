import { and, eq, exists, isNull, lt, or, sql } from 'drizzle-orm'
import type { ByClient } from '../../accounts/by'
import { sessionEvent } from '../../accounts/events'
import { sessions, type User, users } from '../../accounts/schema'
import { noteBrowser } from '../../accounts/security-notices'
import { auditedFrom, type Change } from '../../audit/store'
import { batch, type Directory } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import { ssoConnections, ssoIdentities } from '../../identities/schema'
import { newId } from '../../lib/ids'
import { MINUTE } from '../../lib/time'
import { type Session, sessionReplaced, userOfSession } from '../../sessions/session'
import { members } from '../../tenancy/schema'
import { type AdmissionFacts, admit, NOT_INVITED, type NotAdmitted } from './admission'
import { type Entering, type Entrant, entrantOf, selectFacts, whenFacts } from './facts'

type Opening = {
  entering: Entering
  session: Pick<Session, 'id' | 'hash' | 'expires_at'>
  /** The session of this browser that the new one replaces. */
  replaces: string | null
  /** A keyed hash of the browser. */
  browser: string
  by: ByClient
  request: Pick<Change, 'request_id' | 'client_request_id'>
}
type New = { user: string; identity: string }

/**
 * Opens a session for somebody whom a provider has identified, in one transaction: links a new identity to the user with its
 * address, or to a new user; makes them a member, if the connection says in which role. Two first sign-ins at once get one
 * user, and whoever is a member already stays as they are. {@link admit} decides each of these steps.
 *
 * @returns the user, and whether a notice about the browser is due and within the limit; or why they may not sign in
 */
export async function openWithSso(
  db: Directory,
  opening: Opening,
): Promise<{ user: User; due: boolean; counted: boolean } | NotAdmitted> {
  const { entering, session, replaces, browser, by } = opening
  const { connection, identified, now } = entering
  const created = { user: newId('usr', now), identity: newId('idn', now) }
  const entry = entrantOf(db, entering)
  const done = await batch(db, {
    facts: selectFacts(db, entry),
    ...linkedTo(db, opening, entry, created),
    ...joinedBy(db, opening, entry, created),
    ...openedFor(db, opening, entry),
    logged: sessionEvent(db, { ...by, type: 'sso_sign_in' }, eq(sessions.id, session.id)),
    ...noteBrowser(db, { session: session.id, browser, newUser: created.user }, now),
    ...sessionReplaced(db, { replaces, by: session.id }, by),
    ...lastUsed(db, opening, entry),
    user: userOfSession(db, session.id),
  })
  const [user] = done.user
  if (!user) {
    const admitted = admit(connection.settings, identified, done.facts[0] as AdmissionFacts)
    return 'reason' in admitted ? admitted : NOT_INVITED
  }
  const due = done.known.length === 0 && user.id !== created.user && user.notices
  return { user, due, counted: done.noticed.length > 0 }
}

/** Links a new identity to the user with its address, or to a new one. */
function linkedTo(db: Directory, { entering }: Opening, entry: Entrant, created: New) {
  const { connection, identified, now } = entering
  const { project_id, id: connection_id, settings } = connection
  const { address, byAddress } = entry
  const isNew = whenFacts(entry, (facts) => !facts.linked && 'role' in admit(settings, identified, facts))
  const user = { id: created.user, email: address, created_at: now }
  const identity = {
    id: created.identity,
    project_id,
    connection_id,
    issuer: identified.issuer,
    subject: identified.subject,
    user_id: byAddress,
    email: address,
    created_at: now,
    last_used_at: now,
  }
  return {
    signedUp: insertWhere(db, users, user, isNew).onConflictDoNothing(),
    linked: insertWhere(db, ssoIdentities, identity, isNew).onConflictDoNothing(),
  }
}

/** Makes the user of a new identity a member. */
function joinedBy(db: Directory, { entering, request }: Opening, entry: Entrant, created: New) {
  const { connection, identified, now } = entering
  const { project_id, id: connection_id, settings } = connection
  const { default_role } = settings
  const { known } = entry
  const identity = and(eq(ssoIdentities.project_id, project_id), eq(ssoIdentities.id, created.identity))
  const one = db.select({ one: sql`1` }).from(ssoIdentities)
  const joining = and(
    exists(one.where(identity)),
    whenFacts(entry, (facts) => {
      const admitted = admit(settings, identified, { ...facts, linked: false }) // As it was before the identity.
      return 'role' in admitted && admitted.role !== null
    }),
  )
  const role = default_role ?? 'viewer'
  const member = { project_id, user_id: known, role, created_at: now, source: 'sso' as const }
  return {
    audit: auditedFrom(
      db,
      { ...request, now, actor: { type: 'user', id: '' } },
      { action: 'member.joined', object_type: 'member', object_id: '' },
      {
        taken: {
          project_id: sql`${project_id}`,
          actor_id: known,
          object_id: known,
          details: sql`json_object('role', ${default_role}, 'sso_connection', ${connection_id})`,
        },
        from: sql`FROM (SELECT 1) WHERE ${joining}`,
      },
    ),
    joined: insertWhere(db, members, member, joining).onConflictDoNothing(),
  }
}

/** Opens the session of a user whose identity is linked, if they may sign in. */
function openedFor(db: Directory, { entering, session, by }: Opening, entry: Entrant) {
  const { connection, identified, now } = entering
  const row = {
    ...session,
    user_id: entry.known,
    user_agent: by.client.user_agent,
    created_at: now,
    last_used_at: now,
    confirmed_at: now,
    connection_id: connection.id,
    sso_project_id: connection.project_id,
    sid: identified.sid,
  }
  const mayEnter = whenFacts(entry, (facts) => facts.linked && 'role' in admit(connection.settings, identified, facts))
  return { opened: insertWhere(db, sessions, row, mayEnter) }
}

/** Notes when the identity and the connection were last used, once the session is open. */
function lastUsed(db: Directory, { entering, session }: Opening, { identity }: Entrant) {
  const { connection, identified, now } = entering
  const { end_session_endpoint } = identified
  const isConnection = and(eq(ssoConnections.project_id, connection.project_id), eq(ssoConnections.id, connection.id))
  const stale = or(
    isNull(ssoConnections.last_used_at),
    lt(ssoConnections.last_used_at, now - MINUTE),
    sql`${ssoConnections.end_session_endpoint} IS NOT ${end_session_endpoint}`,
  )
  const isOpen = exists(db.select({ one: sql`1` }).from(sessions).where(eq(sessions.id, session.id)))
  return {
    used: db
      .update(ssoIdentities)
      .set({ last_used_at: now })
      .where(and(identity, lt(ssoIdentities.last_used_at, now - MINUTE), isOpen)),
    usedConnection: db
      .update(ssoConnections)
      .set({ last_used_at: now, end_session_endpoint })
      .where(and(isConnection, stale, isOpen)),
  }
}
