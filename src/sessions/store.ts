import { sql } from 'drizzle-orm'
import type { Db, Statement } from '../db/client'
import { members, sessions, signInCodes, users } from '../db/schema'
import type { Role } from '../lib/access'
import { idFloor, newId } from '../lib/ids'
import { DAY, HOUR } from '../lib/time'
import { CODE_TRIES, CODES_PER_HOUR } from './secret'

export type User = typeof users.$inferSelect
export type Session = typeof sessions.$inferSelect
export type SessionCredential = Pick<Session, 'id' | 'user_id' | 'created_at' | 'expires_at'> & {
  email: string
  /** Null where no project was named, or the user is no member of it. */
  role: Role | null
}

/** Reads the session whose token has this hash, with the user's role in a project. */
export function byHash(hash: string, projectId: string | null): Statement<SessionCredential> {
  return sql<SessionCredential>`SELECT s.id, s.user_id, s.created_at, s.expires_at, u.email, m.role
    FROM ${sessions} s JOIN ${users} u ON u.id = s.user_id
    LEFT JOIN ${members} m ON m.user_id = s.user_id AND m.project_id = ${projectId}
    WHERE s.hash = ${hash}`
}

/** Moves a session's end ahead. */
export async function slideSession(db: Db, id: string, expiresAt: number, now: number): Promise<void> {
  await db.all(sql`UPDATE ${sessions} SET expires_at = ${expiresAt}, last_used_at = ${now} WHERE id = ${id}`)
}

/**
 * Records a sign-in code, unless the address has had its hourly share. Whether the address is known is read in the
 * same round trip, so that both cost the same.
 */
export async function insertCode(
  db: Db,
  code: { id: string; email: string; code_hash: string; expires_at: number },
  now: number,
): Promise<{ recorded: boolean; known: boolean }> {
  const [inserted, user] = await db.batch([
    sql<{ id: string }>`INSERT INTO ${signInCodes} (id, email, code_hash, created_at, expires_at)
      SELECT ${code.id}, ${code.email}, ${code.code_hash}, ${now}, ${code.expires_at}
      WHERE (SELECT count(*) FROM ${signInCodes} WHERE email = ${code.email} AND created_at > ${now - HOUR}) < ${CODES_PER_HOUR}
      RETURNING id`,
    sql<{ id: string }>`SELECT id FROM ${users} WHERE email = ${code.email}`,
  ])
  return { recorded: inserted.rows.length > 0, known: user.rows.length > 0 }
}

/**
 * Spends a code and opens a session with it, in one transaction: a try is counted whatever comes of it, a code opens
 * one session, and a first sign-in makes the user where sign-up is open.
 *
 * @returns the user, or null where the code is wrong, spent, expired or out of tries
 */
export async function redeemCode(
  db: Db,
  attempt: { challenge: string; code_hash: string; signUp: 'open' | 'invited' },
  session: { id: string; hash: string; expires_at: number; user_agent: string | null },
  now: number,
): Promise<User | null> {
  const opened = sql`FROM ${signInCodes} c WHERE c.id = ${attempt.challenge} AND c.used_by = ${session.id}`
  const [, , , found] = await db.batch([
    sql`UPDATE ${signInCodes} SET tries = tries + 1,
        used_by = CASE WHEN code_hash = ${attempt.code_hash} THEN ${session.id} END
      WHERE id = ${attempt.challenge} AND used_by IS NULL AND expires_at > ${now} AND tries < ${CODE_TRIES}`,
    sql`INSERT INTO ${users} (id, email, created_at) SELECT ${newId('usr', now)}, c.email, ${now} ${opened}
      AND ${attempt.signUp} = 'open' ON CONFLICT DO NOTHING`,
    sql`INSERT INTO ${sessions} (id, user_id, hash, created_at, expires_at, last_used_at, user_agent)
      SELECT ${session.id}, (SELECT id FROM ${users} WHERE email = c.email), ${session.hash}, ${now},
        ${session.expires_at}, ${now}, ${session.user_agent} ${opened}
        AND EXISTS (SELECT 1 FROM ${users} WHERE email = c.email)`,
    sql<User>`SELECT u.* FROM ${sessions} s JOIN ${users} u ON u.id = s.user_id WHERE s.id = ${session.id}`,
  ])
  return found.rows[0] ?? null
}

/** A user's live sessions, newest first, from before the session `before`. */
export function listSessions(
  db: Db,
  userId: string,
  now: number,
  before: string | null,
  limit: number,
): Promise<Session[]> {
  return db.all(
    sql<Session>`SELECT * FROM ${sessions} WHERE user_id = ${userId} AND id < ${before ?? '~'} AND expires_at > ${now}
      ORDER BY id DESC LIMIT ${limit}`,
  )
}

export function findSession(db: Db, userId: string, id: string): Promise<Session | null> {
  return db.first(sql<Session>`SELECT * FROM ${sessions} WHERE id = ${id} AND user_id = ${userId}`)
}

/** Ends a session of the user. @returns whether there was one */
export async function deleteSession(db: Db, userId: string, id: string): Promise<boolean> {
  const rows = await db.all(
    sql<{ id: string }>`DELETE FROM ${sessions} WHERE id = ${id} AND user_id = ${userId} RETURNING id`,
  )
  return rows.length > 0
}

/** Removes what ended over a day ago: codes by their id's time, sessions in chunks. */
export async function purgeEnded(db: Db, now: number): Promise<void> {
  await db.batch([
    sql`DELETE FROM ${signInCodes} WHERE id < ${idFloor('chl', now - DAY)}`,
    // A session lives for seven days at most, and its id's time is its start.
    sql`DELETE FROM ${sessions} WHERE id < ${idFloor('ses', now - 8 * DAY)}`,
  ])
}
