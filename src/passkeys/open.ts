import { and, eq } from 'drizzle-orm'
import type { ByClient } from '../accounts/by'
import { sessionEvent } from '../accounts/events'
import { sessions, type User } from '../accounts/schema'
import { noteBrowser } from '../accounts/security-notices'
import type { Directory } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { type Bypassed, bypassedBy } from '../sessions/bypass'
import { type Session, sessionReplaced, userOfSession } from '../sessions/session'
import { type Acting, isSession } from './acting'
import { type Asserted, isAsAsserted, once, passkeyUsed } from './passkey'

type NewSession = Pick<Session, 'id' | 'hash' | 'expires_at'>

/**
 * Opens a session with a passkey, which is its second factor too. The session that it replaces ends.
 *
 * @param browser a keyed hash of it
 * @returns the user, and whether a notice about the browser is due and within the limit; null if the challenge was answered before, or the passkey is no longer as it was read
 */
export async function openWithPasskey(
  db: Directory,
  asserted: Asserted,
  { session, replaces, browser }: { session: NewSession; replaces: string | null; browser: string },
  by: ByClient,
): Promise<{ user: User; due: boolean; counted: boolean; bypassed: Bypassed[] } | null> {
  const { user_id } = asserted.passkey
  const { client, now } = by
  const { user_agent } = client
  const row = { ...session, user_id, user_agent, created_at: now, last_used_at: now, ...provedAt(now) }
  const done = await once(db, asserted.challenge, {
    opened: insertWhere(db, sessions, row, isAsAsserted(db, asserted)),
    used: passkeyUsed(db, asserted, now),
    logged: sessionEvent(db, { ...by, type: 'passkey_sign_in' }, eq(sessions.id, session.id)),
    ...noteBrowser(db, { session: session.id, browser, newUser: null }, now),
    ...sessionReplaced(db, { replaces, by: session.id }, by),
    bypassed: bypassedBy(db, session.id),
    user: userOfSession(db, session.id),
  })
  const user = done?.user[0]
  if (!user) return null
  const due = done.known.length === 0 && user.notices
  return { user, due, counted: done.noticed.length > 0, bypassed: done.bypassed }
}

/**
 * Makes a passkey the second factor of a session of its user, confirms the session, and logs it.
 *
 * @returns whether it did: not if the challenge was answered before, or the passkey is no longer as it was read
 */
export async function proveWithPasskey(
  db: Directory,
  session: Acting,
  asserted: Asserted,
  by: ByClient,
): Promise<boolean> {
  const { now } = by
  const proven = and(isSession(session), eq(sessions.user_id, asserted.passkey.user_id), isAsAsserted(db, asserted))
  const done = await once(db, asserted.challenge, {
    logged: sessionEvent(db, { ...by, type: 'passkey_used' }, proven),
    proved: db.update(sessions).set(provedAt(now)).where(proven).returning({ id: sessions.id }),
    used: passkeyUsed(db, asserted, now),
  })
  return done !== null && done.proved.length > 0
}

/** A passkey says that its user is here now, and is a second factor. */
const provedAt = (now: number) => ({ confirmed_at: now, second_factor_at: now })
