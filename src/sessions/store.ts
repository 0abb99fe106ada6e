import { and, desc, eq, getTableColumns, gt, isNull, lt, sql } from 'drizzle-orm'
import { batch, type Db, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { idFloor, newId } from '../lib/ids'
import { DAY, HOUR } from '../lib/time'
import { members } from '../members/schema'
import { CODE_TRIES, CODES_PER_HOUR, SESSION_MAX } from './limits'
import { sessions, signInCodes, users } from './schema'

export type User = typeof users.$inferSelect
export type Session = typeof sessions.$inferSelect
/** `role`: null if the request names no project, or the user is not a member of it. */
export type SessionCredential = Awaited<ReturnType<typeof byHash>>[number]

/** Reads the session with this hash, with the user's role in a project. */
export function byHash(db: Db, hash: string, projectId: string | null) {
  return db
    .select({
      id: sessions.id,
      user_id: sessions.user_id,
      created_at: sessions.created_at,
      expires_at: sessions.expires_at,
      email: users.email,
      role: members.role,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.user_id))
    .leftJoin(members, and(eq(members.user_id, sessions.user_id), sql`${members.project_id} = ${projectId}`))
    .where(eq(sessions.hash, hash))
}

/** Extends a session. */
export async function slideSession(db: Db, id: string, expiresAt: number, now: number): Promise<void> {
  await run(db, db.update(sessions).set({ expires_at: expiresAt, last_used_at: now }).where(eq(sessions.id, id)))
}

/**
 * Records a sign-in code, unless the address has had its hourly number. The same round trip reads whether the address
 * is known, so that a known and an unknown address take the same time.
 */
export async function insertCode(
  db: Db,
  code: { id: string; email: string; code_hash: string; expires_at: number },
  now: number,
): Promise<{ recorded: boolean; known: boolean }> {
  const recent = db.$count(signInCodes, and(eq(signInCodes.email, code.email), gt(signInCodes.created_at, now - HOUR)))
  const row = { ...code, created_at: now }
  const { inserted, user } = await batch(db, {
    inserted: insertWhere(db, signInCodes, row, sql`${recent} < ${CODES_PER_HOUR}`).returning({ id: signInCodes.id }),
    user: db.select({ id: users.id }).from(users).where(eq(users.email, code.email)),
  })
  return { recorded: inserted.length > 0, known: user.length > 0 }
}

/**
 * Redeems a code and opens a session, in one transaction. Every attempt is counted, a code opens one session, and a
 * first sign-in creates the user if sign-up is open.
 *
 * @returns the user, or null if the code is wrong, used, expired or out of attempts
 */
export async function redeemCode(
  db: Db,
  attempt: { challenge: string; code_hash: string; signUp: 'open' | 'invited' },
  session: Pick<Session, 'id' | 'hash' | 'expires_at' | 'user_agent'>,
  now: number,
): Promise<User | null> {
  const { challenge, code_hash, signUp } = attempt
  const spent = and(eq(signInCodes.id, challenge), eq(signInCodes.used_by, session.id))
  const email = sql`(SELECT ${signInCodes.email} FROM ${signInCodes} WHERE ${spent})`
  const user_id = sql`(SELECT ${users.id} FROM ${users} WHERE ${users.email} = ${email})`
  const live = and(
    eq(signInCodes.id, challenge),
    isNull(signInCodes.used_by),
    gt(signInCodes.expires_at, now),
    lt(signInCodes.tries, CODE_TRIES),
  )
  const used_by = sql`CASE WHEN ${signInCodes.code_hash} = ${code_hash} THEN ${session.id} END`
  const newUser = { id: newId('usr', now), email, created_at: now }
  const newSession = { ...session, user_id, created_at: now, last_used_at: now }
  const { user } = await batch(db, {
    tried: db
      .update(signInCodes)
      .set({ tries: sql`${signInCodes.tries} + 1`, used_by })
      .where(live),
    ...(signUp === 'open' && {
      signedUp: insertWhere(db, users, newUser, sql`${email} IS NOT NULL`).onConflictDoNothing(),
    }),
    opened: insertWhere(db, sessions, newSession, sql`${user_id} IS NOT NULL`),
    user: db
      .select(getTableColumns(users))
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.user_id))
      .where(eq(sessions.id, session.id)),
  })
  return user[0] ?? null
}

/** Reads `take` of a user's live sessions, newest first, starting after the session `before`. */
export function listSessions(
  db: Db,
  userId: string,
  now: number,
  { before, take }: { before: string | null; take: number },
) {
  const live = and(eq(sessions.user_id, userId), gt(sessions.expires_at, now))
  return db
    .select()
    .from(sessions)
    .where(and(live, before === null ? undefined : lt(sessions.id, before)))
    .orderBy(desc(sessions.id))
    .limit(take)
}

/** Reads one of the user's sessions. */
export function findSession(db: Db, userId: string, id: string) {
  return db
    .select()
    .from(sessions)
    .where(and(eq(sessions.id, id), eq(sessions.user_id, userId)))
}

/** Ends one of the user's sessions. @returns whether it existed */
export async function deleteSession(db: Db, userId: string, id: string): Promise<boolean> {
  const ended = db.delete(sessions).where(and(eq(sessions.id, id), eq(sessions.user_id, userId)))
  return (await run(db, ended.returning({ id: sessions.id }))).length > 0
}

/** Deletes codes and sessions that ended more than a day ago. Their ids hold the time when they began. */
export async function purgeEnded(db: Db, now: number): Promise<void> {
  await batch(db, {
    codes: db.delete(signInCodes).where(lt(signInCodes.id, idFloor('chl', now - DAY))),
    sessions: db.delete(sessions).where(lt(sessions.id, idFloor('ses', now - SESSION_MAX - DAY))),
  })
}
