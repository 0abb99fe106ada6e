import { and, eq, exists, isNull, not, notExists, type SQL, sql } from 'drizzle-orm'
import type { ByClient } from '../accounts/by'
import { sessionEvent, wrongRecoveryCodeEvent } from '../accounts/events'
import { sessions } from '../accounts/schema'
import { type NoticeOf, noticeOf } from '../accounts/security-notices'
import { batch, type Directory } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { type Acting, isProven, isSession, othersUnproven } from './acting'
import { passkeys, recoveryCodes } from './schema'

/** Reads how many recovery codes of a user can still be used, and when they were made. */
export function codesLeft(db: Directory, userId: string) {
  return db
    .select({
      left: sql<number>`count(*)`.as('left'),
      created_at: sql<number | null>`min(${recoveryCodes.created_at})`.as('made_at'),
    })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.user_id, userId), isNull(recoveryCodes.used_at)))
}

/** Reads when the recovery codes of a user were made, used ones too; null if there are none. */
export function codesMadeAt(db: Directory, userId: string) {
  return db
    .select({ at: sql<number | null>`max(${recoveryCodes.created_at})`.as('made_at') })
    .from(recoveryCodes)
    .where(eq(recoveryCodes.user_id, userId))
}

/**
 * Makes recovery codes for the user of a session who has none, and logs it, for a batch. `made` reads whether they are the
 * user's then.
 *
 * @param when whether they are made, as it is when the statement runs
 */
export function codesMade(
  db: Directory,
  session: Acting,
  { hashes, when }: { hashes: readonly string[]; when: SQL },
  by: ByClient,
) {
  const { user_id } = session
  const none = notExists(db.select({ one: sql`1` }).from(recoveryCodes).where(eq(recoveryCodes.user_id, user_id)))
  const made = db
    .select({ hash: recoveryCodes.hash })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.user_id, user_id), eq(recoveryCodes.hash, hashes[0] ?? '')))
  return {
    codes: insertFrom(
      db,
      recoveryCodes,
      { user_id: sql`${user_id}`, hash: sql`value`, created_at: sql`CAST(${by.now} AS INTEGER)` },
      sql`FROM json_each(${JSON.stringify(hashes)}) WHERE ${and(when, none)}`,
    ),
    codesLogged: sessionEvent(db, { ...by, type: 'recovery_codes_made' }, and(isSession(session), exists(made))),
    made,
  }
}

/** Deletes the recovery codes of a user who has no passkey, for a batch. */
export function codesGoneWithPasskeys(db: Directory, userId: string) {
  const none = notExists(db.select({ one: sql`1` }).from(passkeys).where(eq(passkeys.user_id, userId)))
  return db.delete(recoveryCodes).where(and(eq(recoveryCodes.user_id, userId), none))
}

/**
 * Replaces the recovery codes of a user who has a passkey, if the session has its second factor. The other sessions of the
 * user lose their second factor and confirmation: somebody may have used an old code in one.
 *
 * @param known when the codes that the caller saw were made: if there are others now, nothing changes. Undefined: whichever
 *   there are
 * @returns whether the user has a passkey, whether the codes that the caller saw were the user's, whether the new ones are
 *   now, and the notice of it
 */
export async function replaceCodes(
  db: Directory,
  session: Acting,
  { hashes, known }: { hashes: readonly string[]; known: number | null | undefined },
  by: ByClient,
) {
  const { user_id } = session
  const own = db.select({ one: sql`1` }).from(passkeys).where(eq(passkeys.user_id, user_id))
  // Without codes, there are no others: so this holds between the deletion and the new codes too.
  const same = known === undefined ? sql`TRUE` : sql`coalesce(${codesMadeAt(db, user_id)}, ${known}) IS ${known}`
  const allowed = sql`${isProven(db, session)} AND ${exists(own)} AND ${same}`
  const { some, before, made, counted, reader } = await batch(db, {
    some: own.limit(1),
    before: codesMadeAt(db, user_id),
    ...noticeOf(db, by.now, user_id, allowed),
    unproven: othersUnproven(db, session, allowed),
    gone: db.delete(recoveryCodes).where(and(eq(recoveryCodes.user_id, user_id), allowed)),
    ...codesMade(db, session, { hashes, when: allowed }, by),
  })
  const at = before[0]?.at ?? null
  const seen = known === undefined || at === null || at === known
  return { some: some.length > 0, seen, made: made.length > 0, notice: { counted, reader } }
}

/**
 * Uses up a recovery code: it is the second factor of the session. A wrong one is counted.
 *
 * @returns the notice of it; null if the code could not be used
 */
export async function redeemRecoveryCode(
  db: Directory,
  session: Acting,
  hash: string,
  by: ByClient,
): Promise<NoticeOf | null> {
  const code = and(
    eq(recoveryCodes.user_id, session.user_id),
    eq(recoveryCodes.hash, hash),
    isNull(recoveryCodes.used_at),
  )
  const right = exists(db.select({ one: sql`1` }).from(recoveryCodes).where(code))
  const proven = and(isSession(session), right)
  const { used, counted, reader } = await batch(db, {
    failed: wrongRecoveryCodeEvent(db, by, and(isSession(session), not(right))),
    logged: sessionEvent(db, { ...by, type: 'recovery_code_used' }, proven),
    proved: db.update(sessions).set({ second_factor_at: by.now }).where(proven),
    ...noticeOf(db, by.now, session.user_id, right),
    used: db.update(recoveryCodes).set({ used_at: by.now }).where(code).returning({ hash: recoveryCodes.hash }),
  })
  return used.length > 0 ? { counted, reader } : null
}
