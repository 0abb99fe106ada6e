import { and, eq, exists, getTableColumns, isNull, lt, or, sql } from 'drizzle-orm'
import type { By } from '../../accounts/client'
import { sessionEvent } from '../../accounts/events'
import { noteBrowser } from '../../accounts/notices'
import { sessions, type User, users } from '../../accounts/schema'
import { auditedFrom, type Change } from '../../audit/store'
import { batch, type Directory } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import { ssoConnections, ssoIdentities } from '../../identities/schema'
import { newId } from '../../lib/ids'
import { MINUTE } from '../../lib/time'
import { type Session, sessionReplaced } from '../../sessions/session'
import { members } from '../../tenancy/schema'
import type { Finishing } from '../login/logins'
import { conditions, type Facts, selectFacts } from './admission-store'

type New = {
  session: Pick<Session, 'id' | 'hash' | 'expires_at'>
  /** The session of this browser that the new one replaces. */
  replaces: string | null
  /** The user whom this browser has just proved to be, by a code or a passkey; null if none. */
  proved: string | null
  /** A keyed hash of the browser. */
  browser: string
}

/**
 * Opens a session for somebody whom a provider has identified, in one transaction: links a new identity to the user with its
 * address, or to a new user; makes them a member, if the connection says in which role. Two first sign-ins at once get one
 * user, and whoever is a member already stays as they are.
 *
 * @returns `opened`: null if they may not sign in; `facts` say why
 */
export async function openWithSso(
  db: Directory,
  { connection, identified }: Pick<Finishing, 'connection' | 'identified'>,
  { session, replaces, proved, browser }: New,
  by: By,
  change: Omit<Change, 'actor'>,
): Promise<{ facts: Facts | undefined; opened: { user: User; due: boolean; counted: boolean } | null }> {
  const { now, client } = by
  const { project_id, id: connection_id, settings } = connection
  const { issuer, subject, email, email_verified, sid, end_session_endpoint } = identified
  const all = conditions(db, connection, identified, proved, now)
  const { address, identity, active, holds, owned, known, byAddress, unproven, isMember, isFormer, isInvited } = all
  const [newUser, newIdentity] = [newId('usr', now), newId('idn', now)]
  const { default_role } = settings
  const joins = default_role === null ? sql`0` : sql`NOT ${isFormer(byAddress)}`
  const admitted = sql`(${joins} OR ${isMember(byAddress)} OR ${isInvited(byAddress)})`
  const linkable = and(
    email === null || !email_verified ? sql`0` : sql`${known} IS NULL`,
    active,
    owned,
    admitted,
    sql`NOT ${unproven}`,
  )
  const linked = exists(
    db
      .select({ one: sql`1` })
      .from(ssoIdentities)
      .where(and(eq(ssoIdentities.project_id, project_id), eq(ssoIdentities.id, newIdentity))),
  )
  const joining = and(joins, linked, sql`NOT ${isMember(known)}`)
  const member = {
    project_id,
    user_id: known,
    role: default_role ?? 'viewer',
    created_at: now,
    source: 'sso' as const,
  }
  const opening = and(sql`${known} IS NOT NULL`, active, holds, sql`(${isMember(known)} OR ${isInvited(known)})`)
  const row = {
    ...session,
    user_id: known,
    user_agent: client.user_agent,
    created_at: now,
    last_used_at: now,
    confirmed_at: now,
    connection_id,
    sso_project_id: project_id,
    sid,
  }
  const isOpen = exists(db.select({ one: sql`1` }).from(sessions).where(eq(sessions.id, session.id)))
  const stale = or(
    isNull(ssoConnections.last_used_at),
    lt(ssoConnections.last_used_at, now - MINUTE),
    sql`${ssoConnections.end_session_endpoint} IS NOT ${end_session_endpoint}`,
  )
  const done = await batch(db, {
    facts: selectFacts(db, connection, identified, proved, now),
    signedUp: insertWhere(db, users, { id: newUser, email: address, created_at: now }, linkable).onConflictDoNothing(),
    linked: insertWhere(
      db,
      ssoIdentities,
      {
        id: newIdentity,
        project_id,
        connection_id,
        issuer,
        subject,
        user_id: byAddress,
        email: address,
        created_at: now,
        last_used_at: now,
      },
      linkable,
    ).onConflictDoNothing(),
    audit: auditedFrom(
      db,
      { ...change, actor: { type: 'user', id: '' } },
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
    opened: insertWhere(db, sessions, row, opening),
    logged: sessionEvent(db, { ...by, type: 'sso_sign_in' }, eq(sessions.id, session.id)),
    ...noteBrowser(db, { session: session.id, browser, newUser }, now),
    ...sessionReplaced(db, { replaces, by: session.id }, by),
    used: db
      .update(ssoIdentities)
      .set({ last_used_at: now })
      .where(and(identity, lt(ssoIdentities.last_used_at, now - MINUTE), isOpen)),
    usedConnection: db
      .update(ssoConnections)
      .set({ last_used_at: now, end_session_endpoint })
      .where(and(eq(ssoConnections.project_id, project_id), eq(ssoConnections.id, connection_id), stale, isOpen)),
    user: db
      .select(getTableColumns(users))
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.user_id))
      .where(eq(sessions.id, session.id)),
  })
  const user = done.user[0]
  const due = user !== undefined && done.known.length === 0 && user.id !== newUser && user.notices
  return { facts: done.facts[0], opened: user ? { user, due, counted: done.noticed.length > 0 } : null }
}
