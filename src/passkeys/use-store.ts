import { and, eq, getTableColumns } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { sessions, users } from '../sessions/schema'
import type { Session, User } from '../sessions/store'
import { type Acting, type Asserted, isSession, isUnchanged, once, passkeyUsed } from './store'

type NewSession = Pick<Session, 'id' | 'hash' | 'expires_at' | 'user_agent'>

/**
 * Opens a session with a passkey, which is its second factor too. The session that it replaces ends.
 *
 * @returns the user; null if the challenge was answered before, or the passkey is no longer as it was read
 */
export async function openWithPasskey(
  db: Directory,
  asserted: Asserted,
  { session, replaces }: { session: NewSession; replaces: string | null },
  now: number,
): Promise<User | null> {
  const { user_id } = asserted.passkey
  const row = { ...session, user_id, created_at: now, last_used_at: now, ...provedAt(now) }
  const done = await once(db, asserted.challenge, {
    opened: insertWhere(db, sessions, row, isUnchanged(db, asserted)),
    used: passkeyUsed(db, asserted, now),
    ...(replaces !== null && { replaced: db.delete(sessions).where(eq(sessions.id, replaces)) }),
    user: db
      .select(getTableColumns(users))
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.user_id))
      .where(eq(sessions.id, session.id)),
  })
  return done?.user[0] ?? null
}

/**
 * Makes a passkey the second factor of a session of its user, and confirms the session.
 *
 * @returns whether it did: not if the challenge was answered before, or the passkey is no longer as it was read
 */
export async function proveWithPasskey(
  db: Directory,
  session: Acting,
  asserted: Asserted,
  now: number,
): Promise<boolean> {
  const done = await once(db, asserted.challenge, {
    proved: db
      .update(sessions)
      .set(provedAt(now))
      .where(and(isSession(session), eq(sessions.user_id, asserted.passkey.user_id), isUnchanged(db, asserted)))
      .returning({ id: sessions.id }),
    used: passkeyUsed(db, asserted, now),
  })
  return done !== null && done.proved.length > 0
}

/** A passkey says that its user is here now, and is a second factor. */
const provedAt = (now: number) => ({ confirmed_at: now, second_factor_at: now })
