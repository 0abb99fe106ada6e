import { and, eq, exists, isNotNull, lt, ne, notExists, or, type SQL, sql } from 'drizzle-orm'
import type { ByClient } from '../accounts/by'
import { sessionEvent } from '../accounts/events'
import { sessions } from '../accounts/schema'
import { noticeOf } from '../accounts/security-notices'
import { batch, ConstraintError, type Directory, type Queries, type Results, run } from '../db/client'
import { deleteSome } from '../db/delete-some'
import { insertWhere } from '../db/insert-where'
import { idFloor } from '../lib/ids'
import { DAY } from '../lib/time'
import { type Acting, isProven, isSession, othersUnproven } from './acting'
import { MAX_PASSKEYS } from './limits'
import { codesGoneWithPasskeys, codesMade } from './recovery-codes'
import { passkeys, spentChallenges } from './schema'

export type Passkey = typeof passkeys.$inferSelect

/** Reads the passkeys of a user, oldest first. */
export function passkeysOf(db: Directory, userId: string) {
  return db.select().from(passkeys).where(eq(passkeys.user_id, userId)).orderBy(passkeys.id)
}

/** Reads the passkey with this credential, whoever's it is. */
export function byCredential(db: Directory, credentialId: string) {
  return db.select().from(passkeys).where(eq(passkeys.credential_id, credentialId))
}

/**
 * Adds a passkey, which is the second factor of the session from then on. With the first passkey come recovery codes.
 *
 * The session must exist. If the user has a passkey already, the session must have its second factor: otherwise
 * whoever reads the user's mail could add a passkey of their own.
 *
 * @param codes hashes of recovery codes, for a user who has none
 * @returns the user's passkeys, whether the codes are the user's now, and the notice of it; null if the challenge was
 *   answered before
 */
export async function insertPasskey(
  db: Directory,
  session: Acting,
  { passkey, challenge, codes }: { passkey: Passkey; challenge: string; codes: readonly string[] },
  by: ByClient,
) {
  const own = eq(passkeys.user_id, session.user_id)
  const allowed = exists(db.select({ one: sql`1` }).from(sessions).where(mayManage(db, session)))
  const added = eq(passkeys.id, passkey.id)
  try {
    return await once(db, challenge, {
      added: insertWhere(db, passkeys, passkey, and(allowed, sql`${db.$count(passkeys, own)} < ${MAX_PASSKEYS}`)),
      proved: db
        .update(sessions)
        .set({ second_factor_at: by.now })
        .where(and(isSession(session), hasPasskey(db, added))),
      logged: sessionEvent(db, { ...by, type: 'passkey_added' }, and(isSession(session), hasPasskey(db, added))),
      ...noticeOf(db, by.now, session.user_id, hasPasskey(db, added)),
      ...codesMade(db, session, { hashes: codes, when: hasPasskey(db, added) }, by),
      own: passkeysOf(db, session.user_id),
    })
  } catch (error) {
    if (error instanceof ConstraintError && error.message.includes('passkeys.credential_id')) return 'credential_taken'
    throw error
  }
}

/** Gives one of the user's passkeys a name. The same name again changes nothing. @returns it; undefined if there is none */
export async function renamePasskey(
  db: Directory,
  session: Acting,
  { id, name }: Pick<Passkey, 'id' | 'name'>,
  by: ByClient,
) {
  const own = and(eq(passkeys.id, id), eq(passkeys.user_id, session.user_id))
  const other = and(own, ne(passkeys.name, name))
  const { passkey } = await batch(db, {
    logged: sessionEvent(db, { ...by, type: 'passkey_renamed' }, and(isSession(session), hasPasskey(db, other))),
    renamed: db.update(passkeys).set({ name }).where(other),
    passkey: db.select().from(passkeys).where(own),
  })
  return passkey[0]
}

/**
 * Deletes one of the user's passkeys, if the session has its second factor. The recovery codes go with the last one. The
 * other sessions of the user lose their second factor and confirmation, which this passkey may have given them.
 *
 * @returns whether it existed, whether it is gone, and the notice of it
 */
export async function deletePasskey(db: Directory, session: Acting, id: string, by: ByClient) {
  const one = and(eq(passkeys.id, id), eq(passkeys.user_id, session.user_id))
  const going = and(one, isProven(db, session))
  const { there, gone, counted, reader } = await batch(db, {
    there: db.select({ id: passkeys.id }).from(passkeys).where(one),
    logged: sessionEvent(db, { ...by, type: 'passkey_deleted' }, and(isSession(session), hasPasskey(db, going))),
    ...noticeOf(db, by.now, session.user_id, hasPasskey(db, going)),
    unproven: othersUnproven(db, session, hasPasskey(db, going)),
    gone: db.delete(passkeys).where(going).returning({ id: passkeys.id }),
    codes: codesGoneWithPasskeys(db, session.user_id),
  })
  return { existed: there.length > 0, gone: gone.length > 0, notice: { counted, reader } }
}

/** What an assertion says of a passkey that it was made with. */
export type Asserted = { passkey: Passkey; challenge: string; counter: number; backed_up: boolean }

/** Whether the passkey of an assertion is still there, with the count of signatures that the assertion was compared with. */
export function isAsAsserted(db: Directory, { passkey }: Asserted): SQL {
  return hasPasskey(db, and(eq(passkeys.id, passkey.id), eq(passkeys.counter, passkey.counter)))
}

/** Notes that a passkey was used. */
export function passkeyUsed(db: Directory, { passkey, counter, backed_up }: Asserted, now: number) {
  return db
    .update(passkeys)
    .set({ counter, backed_up, last_used_at: now })
    .where(and(eq(passkeys.id, passkey.id), eq(passkeys.counter, passkey.counter)))
}

/**
 * Sends statements that act on the answer to a challenge, unless the challenge was answered before: then none of them has
 * any effect.
 *
 * @returns null if it was
 */
export async function once<Q extends Queries>(
  db: Directory,
  challenge: string,
  queries: Q,
): Promise<Results<Q> | null> {
  try {
    const results = await batch(db, { spent: db.insert(spentChallenges).values({ id: challenge }), ...queries })
    return results as unknown as Results<Q>
  } catch (error) {
    if (error instanceof ConstraintError && error.message.includes('spent_challenges')) return null
    throw error
  }
}

/** Deletes `most` of the challenges that expired long ago. Their ids hold the time when they were made. @returns how many */
export async function purgeSpent(db: Directory, now: number, most: number): Promise<number> {
  const expired = lt(spentChallenges.id, idFloor('pch', now - DAY))
  return (await run(db, deleteSome(db, spentChallenges, { key: [spentChallenges.id], where: expired, most }))).length
}

/** A session that may add passkeys: one with its second factor, or of a user who has no passkey. */
function mayManage(db: Directory, session: Acting): SQL | undefined {
  const none = notExists(db.select({ one: sql`1` }).from(passkeys).where(eq(passkeys.user_id, session.user_id)))
  return and(isSession(session), or(isNotNull(sessions.second_factor_at), none))
}

function hasPasskey(db: Directory, which: SQL | undefined): SQL {
  return exists(db.select({ one: sql`1` }).from(passkeys).where(which))
}
