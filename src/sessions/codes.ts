import { and, eq, gt, gte, isNull, lt, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { ByClient } from '../accounts/by'
import { sessionEvent, wrongCodeEvent } from '../accounts/events'
import { sessions, signInCodes, type User, users } from '../accounts/schema'
import { noteBrowser } from '../accounts/security-notices'
import { batch, type Directory } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { newId } from '../lib/ids'
import { HOUR } from '../lib/time'
import { isInvited } from '../tenancy/invited'
import type { Requester } from './budget'
import { type Bypassed, bypassedBy } from './bypass'
import { CODE_TRIES, CODES_FOR_EACH, CODES_PER_HOUR, CODES_PER_REQUESTER, CODES_PER_SITE } from './limits'
import { type Session, sessionReplaced, userOfSession } from './session'

type NewCode = {
  id: string
  email: string
  mailbox: string
  code_hash: string
  created_at: number
  expires_at: number
}

/**
 * Records a sign-in code, unless the mailbox or the requester has had its hourly number. The same round trip reads
 * whether the address is known, so that a known and an unknown address take the same time.
 */
export async function insertCode(
  db: Directory,
  code: NewCode,
  { requester, site }: Requester,
): Promise<{ recorded: boolean; known: boolean }> {
  const { inserted, known } = await batch(db, {
    inserted: insertWhere(db, signInCodes, { ...code, requester }, withinLimits(code, { requester, site })).returning({
      id: signInCodes.id,
    }),
    known: db.select({ known: knownAddress(db, code.email, code.created_at).as('known') }).from(sql`(SELECT 1)`),
  })
  return { recorded: inserted.length > 0, known: known[0]?.known === 1 }
}

/** Whether the address is that of a user, or has an invitation that is pending. */
function knownAddress(db: Directory, email: string, now: number): SQL<number> {
  const user = db.select({ one: sql`1` }).from(users).where(eq(users.email, email))
  return sql<number>`(EXISTS ${user} OR ${isInvited(db, email, now)})`
}

/**
 * Whether another code may be sent to the mailbox. Others can use up what the mailbox gets, but never what each
 * requester gets in any case. So other people's requests cannot lock anyone out.
 */
function withinLimits({ mailbox, created_at }: NewCode, { requester, site }: Requester): SQL {
  const since = created_at - HOUR
  const ofMailbox = eq(signInCodes.mailbox, mailbox)
  const all = counted(and(ofMailbox, gt(signInCodes.created_at, since)), CODES_PER_HOUR)
  const own = and(ofMailbox, eq(signInCodes.requester, requester), gt(signInCodes.created_at, since))
  const owned = counted(own, CODES_PER_REQUESTER)
  // Hex digits come before 'g'. The + keeps SQLite from walking the hour's codes of everyone by the other index.
  const inSite = and(ofMailbox, gte(signInCodes.requester, site), lt(signInCodes.requester, `${site}g`))
  const sited = counted(and(inSite, sql`+${signInCodes.created_at} > ${since}`), CODES_PER_SITE)
  return sql`${owned} < ${CODES_PER_REQUESTER} AND ${sited} < ${CODES_PER_SITE}
    AND (${all} < ${CODES_PER_HOUR} OR ${owned} < ${CODES_FOR_EACH})`
}

/** How many codes match. It stops at `most`, so that a flood of them costs no more than that. */
function counted(condition: SQL | undefined, most: number): SQL {
  return sql`(SELECT count(*) FROM (SELECT 1 FROM ${signInCodes} WHERE ${condition} LIMIT ${most}))`
}

/** A code that can still be redeemed. */
function live(challenge: string, now: number) {
  return and(
    eq(signInCodes.id, challenge),
    isNull(signInCodes.used_by),
    gt(signInCodes.expires_at, now),
    lt(signInCodes.tries, CODE_TRIES),
  )
}

/** The code with which somebody tries it, hashed for its challenge. */
type Typed = { challenge: string; code_hash: string }

/** A code that is tried with a wrong one. */
function wrong({ challenge, code_hash }: Typed, now: number) {
  return and(live(challenge, now), ne(signInCodes.code_hash, code_hash))
}

/** Reads the address of a code that can still be redeemed. A wrong code counts as an attempt. @returns null for one */
export async function openCode(db: Directory, typed: Typed, by: ByClient): Promise<string | null> {
  const { now } = by
  const { challenge, code_hash } = typed
  const { found } = await batch(db, {
    failed: wrongCodeEvent(db, by, wrong(typed, now)),
    tried: db
      .update(signInCodes)
      .set({ tries: sql`${signInCodes.tries} + 1` })
      .where(wrong(typed, now)),
    found: db
      .select({ email: signInCodes.email })
      .from(signInCodes)
      .where(and(live(challenge, now), eq(signInCodes.code_hash, code_hash))),
  })
  return found[0]?.email ?? null
}

/**
 * Confirms a session with a code, and logs it. Only a code that was sent to the address of the session's user counts. As in
 * {@link redeemCode}, every attempt is counted, and the older codes of the address end.
 *
 * @returns the session as it is now; null if the code is of another address, wrong, used, expired or out of attempts
 */
export async function confirmWithCode(
  db: Directory,
  session: { id: string; user_id: string; email: string },
  typed: Typed,
  by: ByClient,
): Promise<Session | null> {
  const { now } = by
  const { email } = session
  const { challenge, code_hash } = typed
  const right = and(eq(signInCodes.code_hash, code_hash), eq(signInCodes.email, email))
  const one = db
    .select({ made: signInCodes.created_at })
    .from(signInCodes)
    .where(and(live(challenge, now), right))
  const older = and(
    eq(signInCodes.email, email),
    ne(signInCodes.id, challenge),
    lte(signInCodes.created_at, sql`${one}`),
    gt(signInCodes.expires_at, now),
    isNull(signInCodes.used_by),
  )
  const proven = and(eq(sessions.id, session.id), eq(sessions.user_id, session.user_id), sql`EXISTS ${one}`)
  const { confirmed } = await batch(db, {
    logged: sessionEvent(db, { ...by, type: 'confirmed' }, proven),
    confirmed: db.update(sessions).set({ confirmed_at: now }).where(proven).returning(),
    failed: wrongCodeEvent(db, by, wrong(typed, now)),
    ended: db.update(signInCodes).set({ expires_at: now }).where(older),
    tried: db
      .update(signInCodes)
      .set({ tries: sql`${signInCodes.tries} + 1`, used_by: sql`CASE WHEN ${right} THEN ${session.id} END` })
      .where(live(challenge, now)),
  })
  return confirmed[0] ?? null
}

/** What is redeemed and from which browser, who may become a user by it, and the session that the new one replaces. */
type Attempt = Typed & { signUp: 'open' | 'invited'; replaces: string | null; browser: string }

/**
 * Redeems a code and opens a session, in one transaction. Every attempt is counted, a code opens one session, and a
 * first sign-in creates the user if sign-up is open or the address is invited. The older codes of the address end, and so does the session that is
 * replaced.
 *
 * @returns the user, whether a notice about the browser is due and within the limit, and the projects whose single sign-on
 *   the session passes by; null if the code is wrong, used,
 *   expired or out of attempts
 */
export async function redeemCode(
  db: Directory,
  { signUp, replaces, browser, ...typed }: Attempt,
  session: Pick<Session, 'id' | 'hash' | 'expires_at'>,
  by: ByClient,
): Promise<{ user: User; due: boolean; counted: boolean; bypassed: Bypassed[] } | null> {
  const { challenge, code_hash } = typed
  const { client, now } = by
  const spent = and(eq(signInCodes.id, challenge), eq(signInCodes.used_by, session.id))
  const email = sql`(SELECT ${signInCodes.email} FROM ${signInCodes} WHERE ${spent})`
  const user_id = sql`(SELECT ${users.id} FROM ${users} WHERE ${users.email} = ${email})`
  const made = sql`(SELECT ${signInCodes.created_at} FROM ${signInCodes} WHERE ${spent})`
  const older = and(
    eq(signInCodes.email, email),
    lte(signInCodes.created_at, made),
    gt(signInCodes.expires_at, now),
    isNull(signInCodes.used_by),
  )
  const used_by = sql`CASE WHEN ${signInCodes.code_hash} = ${code_hash} THEN ${session.id} END`
  const mayBecomeUser = signUp === 'open' ? undefined : isInvited(db, email, now)
  const newUser = { id: newId('usr', now), email, created_at: now }
  const newSession = {
    ...session,
    user_id,
    user_agent: client.user_agent,
    created_at: now,
    last_used_at: now,
    confirmed_at: now,
  }
  const { known, noticed, user, bypassed } = await batch(db, {
    failed: wrongCodeEvent(db, by, wrong(typed, now)),
    tried: db
      .update(signInCodes)
      .set({ tries: sql`${signInCodes.tries} + 1`, used_by })
      .where(live(challenge, now)),
    ended: db.update(signInCodes).set({ expires_at: now }).where(older),
    signedUp: insertWhere(db, users, newUser, and(sql`${email} IS NOT NULL`, mayBecomeUser)).onConflictDoNothing(),
    opened: insertWhere(db, sessions, newSession, sql`${user_id} IS NOT NULL`),
    logged: sessionEvent(db, { ...by, type: 'sign_in' }, eq(sessions.id, session.id)),
    ...noteBrowser(db, { session: session.id, browser, newUser: newUser.id }, now),
    ...sessionReplaced(db, { replaces, by: session.id }, by),
    bypassed: bypassedBy(db, session.id),
    user: userOfSession(db, session.id),
  })
  if (!user[0]) return null
  const due = known.length === 0 && user[0].id !== newUser.id && user[0].notices
  return { user: user[0], due, counted: noticed.length > 0, bypassed }
}
