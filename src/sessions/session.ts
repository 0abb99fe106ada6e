import { and, desc, eq, exists, getTableColumns, gt, inArray, lt, ne, not, sql } from 'drizzle-orm'
import type { ByClient } from '../accounts/by'
import { exposedEvents, purgeAccountEvents, sessionEvent } from '../accounts/events'
import { sessions, signInCodes, users } from '../accounts/schema'
import { countNotices, forgetBrowsers, purgeBrowsers } from '../accounts/security-notices'
import { batch, type Directory, run } from '../db/client'
import { deleteSome } from '../db/delete-some'
import { valuesOf } from '../db/sql'
import { ssoConnections } from '../identities/schema'
import { idFloor, newId } from '../lib/ids'
import { DAY } from '../lib/time'
import { isDeleted } from '../tenancy/project'
import { reachesSession, type SsoSession, type Viewer } from '../tenancy/reach'
import { members, projects } from '../tenancy/schema'
import { SESSION_MAX } from './limits'

export type Session = typeof sessions.$inferSelect

/** `role`: null if the request names no project, or the user is not a member of it. */
export type SessionCredential = Awaited<ReturnType<typeof sessionByHash>>[number]

/**
 * Reads the session with this hash, with the state of the connection that opened it, the user's role in a project, and what
 * that project says about sessions. A deleted project has no members and no connections for it.
 */
export function sessionByHash(db: Directory, hash: string, projectId: string | null) {
  const live = projectId === null ? undefined : not(isDeleted(projectId))
  const openedBy = and(
    eq(ssoConnections.project_id, sessions.sso_project_id),
    eq(ssoConnections.id, sessions.connection_id),
    not(isDeleted(sessions.sso_project_id)),
  )
  return db
    .select({
      id: sessions.id,
      user_id: sessions.user_id,
      created_at: sessions.created_at,
      expires_at: sessions.expires_at,
      confirmed_at: sessions.confirmed_at,
      email: users.email,
      role: members.role,
      second_factor_at: sessions.second_factor_at,
      settings: projects.settings,
      sso_enforced_by: projects.sso_enforced_by,
      break_glass: members.break_glass,
      connection_id: sessions.connection_id,
      sso_project_id: sessions.sso_project_id,
      connection_state: ssoConnections.state,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.user_id))
    .leftJoin(members, and(eq(members.user_id, sessions.user_id), sql`${members.project_id} = ${projectId}`, live))
    .leftJoin(projects, eq(projects.id, members.project_id))
    .leftJoin(ssoConnections, openedBy)
    .where(eq(sessions.hash, hash))
}

/** Extends a session. */
export async function slideSession(db: Directory, id: string, expiresAt: number, now: number): Promise<void> {
  await run(db, db.update(sessions).set({ expires_at: expiresAt, last_used_at: now }).where(eq(sessions.id, id)))
}

/**
 * Reads `take` of a user's live sessions, newest first, starting after the session `before`: for a session from single
 * sign-on, those of its connection.
 */
export function listSessions(
  db: Directory,
  { user_id, sso }: Viewer,
  now: number,
  { before, take }: { before: string | null; take: number },
) {
  const live = and(eq(sessions.user_id, user_id), gt(sessions.expires_at, now), reachesSession(sso))
  return db
    .select()
    .from(sessions)
    .where(and(live, before === null ? undefined : lt(sessions.id, before)))
    .orderBy(desc(sessions.id))
    .limit(take)
}

/** Reads one of the user's sessions. */
export function findSession(db: Directory, userId: string, id: string) {
  return db
    .select()
    .from(sessions)
    .where(and(eq(sessions.id, id), eq(sessions.user_id, userId)))
}

/** Who ends sessions: a session of the same user. */
export type Ending = ByClient & { user_id: string; session: string; sso: SsoSession | null }

/** Ends one of the user's sessions, and logs it. @returns whether it existed */
export async function deleteSession(
  db: Directory,
  id: string,
  { user_id, session, sso, ...by }: Ending,
): Promise<boolean> {
  const own = and(eq(sessions.id, id), eq(sessions.user_id, user_id), reachesSession(sso))
  const { ended } = await batch(db, {
    logged: sessionEvent(db, { ...by, type: id === session ? 'sign_out' : 'session_ended' }, own),
    ended: db.delete(sessions).where(own).returning({ id: sessions.id }),
  })
  return ended.length > 0
}

/**
 * Ends the session that a new one replaces in a browser, and logs it, for the batch that opens the new one: if that was
 * not opened, nothing happens.
 */
export function sessionReplaced(db: Directory, of: { replaces: string | null; by: string }, by: ByClient) {
  if (of.replaces === null) return {}
  const opened = exists(db.select({ one: sql`1` }).from(sessions).where(eq(sessions.id, of.by)))
  const replaced = and(eq(sessions.id, of.replaces), opened)
  return {
    loggedOut: sessionEvent(db, { ...by, type: 'sign_out' }, replaced),
    replaced: db.delete(sessions).where(replaced),
  }
}

/**
 * Ends the sessions of a user, and logs it. The browsers are forgotten, in case one of them is somebody else's. A session
 * from single sign-on ends those of its connection, and no browsers are forgotten.
 *
 * @param keep whether the session that ends the others is to stay
 * @returns how many there were, ended ones too
 */
export async function deleteSessions(
  db: Directory,
  { user_id, session, sso, ...by }: Ending,
  keep: boolean,
): Promise<number> {
  const which = and(eq(sessions.user_id, user_id), reachesSession(sso), keep ? ne(sessions.id, session) : undefined)
  const { ended } = await batch(db, {
    logged: sessionEvent(db, { ...by, type: 'signed_out_everywhere' }, eq(sessions.id, session)),
    ended: db.delete(sessions).where(which).returning({ id: sessions.id }),
    ...(sso === null && { forgotten: forgetBrowsers(db, user_id) }),
  })
  return ended.length
}

/**
 * Ends the live sessions whose tokens have these hashes, because they were exposed, and logs it.
 *
 * @returns `found`: the hashes of sessions that there are, live or not. `users`: those whose sessions were ended. `counted`: those of them who
 *   may be sent an email
 */
export async function endExposed(db: Directory, hashes: readonly string[], now: number) {
  const isOne = inArray(sessions.hash, valuesOf(hashes))
  // Anybody can make up a session's secret: one that nobody has must not cost a write.
  const found = await run(db, db.select({ hash: sessions.hash }).from(sessions).where(isOne))
  if (found.length === 0) return { found, users: [], counted: [] }
  const live = and(isOne, gt(sessions.expires_at, now))
  const owners = db.select({ id: sessions.user_id }).from(sessions).where(live)
  const ids = hashes.map(() => newId('aev', now))
  const { users: ended, counted } = await batch(db, {
    users: db.select().from(users).where(inArray(users.id, owners)),
    counted: countNotices(db, now, inArray(users.id, owners)),
    logged: exposedEvents(db, live, ids, now),
    ended: db.delete(sessions).where(live),
  })
  return { found, users: ended, counted }
}

/**
 * Deletes codes and sessions that ended more than a day ago, whose ids hold the time when they began, and events and
 * browsers of accounts that are too old: at most `most` of each.
 *
 * @returns how many of each
 */
export async function purgeEnded(db: Directory, now: number, most: number): Promise<number[]> {
  const codesEnded = idFloor('chl', now - DAY)
  const sessionsEnded = idFloor('ses', now - SESSION_MAX - DAY)
  const gone = await batch(db, {
    codes: deleteSome(db, signInCodes, { key: [signInCodes.id], where: lt(signInCodes.id, codesEnded), most }),
    sessions: deleteSome(db, sessions, { key: [sessions.id], where: lt(sessions.id, sessionsEnded), most }),
    events: purgeAccountEvents(db, now, most),
    browsers: purgeBrowsers(db, now, most),
  })
  return Object.values(gone).map(({ length }) => length)
}

/** Reads the user of a session, for the batch that opens it: no row if it was not opened. */
export function userOfSession(db: Directory, id: string) {
  return db
    .select(getTableColumns(users))
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.user_id))
    .where(eq(sessions.id, id))
}
