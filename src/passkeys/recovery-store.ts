import { and, eq, exists, isNotNull, isNull, notExists, type SQL, sql } from 'drizzle-orm'
import { batch, type Directory } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { sessions } from '../sessions/schema'
import { passkeys, recoveryCodes } from './schema'
import type { Acting } from './store'

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

/**
 * Makes recovery codes for a user who has none, for a batch. `made` reads how many of them are the user's then.
 *
 * @param hashes of the codes
 */
export function codesMade(db: Directory, userId: string, hashes: readonly string[], condition: SQL, now: number) {
  const none = notExists(db.select({ one: sql`1` }).from(recoveryCodes).where(eq(recoveryCodes.user_id, userId)))
  return {
    codes: insertFrom(
      db,
      recoveryCodes,
      { user_id: sql`${userId}`, hash: sql`value`, created_at: sql`CAST(${now} AS INTEGER)` },
      sql`FROM json_each(${JSON.stringify(hashes)}) WHERE ${and(condition, none)}`,
    ),
    made: db
      .select({ hash: recoveryCodes.hash })
      .from(recoveryCodes)
      .where(and(eq(recoveryCodes.user_id, userId), eq(recoveryCodes.hash, hashes[0] ?? ''))),
  }
}

/** Deletes the recovery codes of a user who has no passkey, for a batch. */
export function codesGoneWithPasskeys(db: Directory, userId: string) {
  const none = notExists(db.select({ one: sql`1` }).from(passkeys).where(eq(passkeys.user_id, userId)))
  return db.delete(recoveryCodes).where(and(eq(recoveryCodes.user_id, userId), none))
}

/**
 * Replaces the recovery codes of a user who has a passkey, if the session has its second factor.
 *
 * @returns whether the user has a passkey, and whether the codes are the user's now
 */
export async function replaceCodes(db: Directory, { id, user_id }: Acting, hashes: readonly string[], now: number) {
  const one = { one: sql`1` }
  const proven = and(eq(sessions.id, id), eq(sessions.user_id, user_id), isNotNull(sessions.second_factor_at))
  const own = db.select(one).from(passkeys).where(eq(passkeys.user_id, user_id))
  const allowed = sql`${exists(db.select(one).from(sessions).where(proven))} AND ${exists(own)}`
  const { some, made } = await batch(db, {
    some: own.limit(1),
    gone: db.delete(recoveryCodes).where(and(eq(recoveryCodes.user_id, user_id), allowed)),
    ...codesMade(db, user_id, hashes, allowed, now),
  })
  return { some: some.length > 0, made: made.length > 0 }
}

/** Uses up a recovery code: it is the second factor of the session. @returns whether the code could be used */
export async function redeemRecoveryCode(
  db: Directory,
  { id, user_id }: Acting,
  hash: string,
  now: number,
): Promise<boolean> {
  const code = and(eq(recoveryCodes.user_id, user_id), eq(recoveryCodes.hash, hash), isNull(recoveryCodes.used_at))
  const { used } = await batch(db, {
    used: db.update(recoveryCodes).set({ used_at: now }).where(code).returning({ hash: recoveryCodes.hash }),
    proved: db
      .update(sessions)
      .set({ second_factor_at: now })
      .where(and(eq(sessions.id, id), eq(sessions.user_id, user_id), sql`changes() > 0`)),
  })
  return used.length > 0
}
