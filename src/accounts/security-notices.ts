import { and, eq, gt, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import { batch, type Directory, type Results } from '../db/client'
import { deleteSome } from '../db/delete-some'
import { insertFrom } from '../db/insert-from'
import { bare } from '../db/sql'
import { DAY } from '../lib/time'
import type { Client } from './by'
import { sessionEvent } from './events'
import { BROWSER_KEPT, NOTICES_A_DAY, NOTICES_A_DAY_IN_ALL } from './limits'
import { accountBrowsers, sessions, type User, users } from './schema'

/** `when`: further conditions. `most`: how many notices there may be on a day. */
type Allowed = { when?: SQL | undefined; most?: number }

/**
 * Counts a notice to a user, unless they have turned notices off or have had those of the day. It returns a row if the
 * notice may be sent.
 */
export function countNotice(db: Directory, now: number, userId: string | SQL, { when, most }: Allowed = {}) {
  return countNotices(db, now, and(eq(users.id, userId), when), most)
}

/** As {@link countNotice}, to each of these users. */
export function countNotices(db: Directory, now: number, which: SQL | undefined, most = NOTICES_A_DAY) {
  const day = Math.floor(now / DAY)
  const today = eq(users.notices_day, day)
  return db
    .update(users)
    .set({ notices_day: day, notices_sent: sql`CASE WHEN ${today} THEN ${users.notices_sent} + 1 ELSE 1 END` })
    .where(and(which, eq(users.notices, true), or(ne(users.notices_day, day), lt(users.notices_sent, most))))
    .returning({ id: users.id })
}

/** For the batch of a change that a user is told of if `when` holds: whether a notice may be sent, and to whom. */
export function noticeOf(db: Directory, now: number, userId: string, when: SQL | undefined) {
  return { counted: countNotice(db, now, userId, { when }), reader: findUser(db, userId) }
}
export type NoticeOf = Results<ReturnType<typeof noticeOf>>

/**
 * Notes from which browser a session was opened, for the batch that opens it. `known` returns a row if the user has signed
 * in from it before; else a notice is counted, except for a user who is new.
 *
 * @param browser a keyed hash of it
 * @param newUser the id of a user whom the batch may make; null if it makes none
 */
export function noteBrowser(
  db: Directory,
  { session, browser, newUser }: { session: string; browser: string; newUser: string | null },
  now: number,
) {
  const user = sql`(SELECT ${sessions.user_id} FROM ${sessions} WHERE ${eq(sessions.id, session)})`
  const known = db
    .select({ seen_at: accountBrowsers.seen_at })
    .from(accountBrowsers)
    .where(
      and(
        eq(accountBrowsers.user_id, user),
        eq(accountBrowsers.browser, browser),
        gt(accountBrowsers.seen_at, now - BROWSER_KEPT),
      ),
    )
  const row = { user_id: sessions.user_id, browser: sql`${browser}`, seen_at: sql`${now}` }
  return {
    known,
    noticed: countNotice(db, now, user, { when: sql`${users.id} IS NOT ${newUser} AND NOT EXISTS ${known}` }),
    noted: insertFrom(
      db,
      accountBrowsers,
      row,
      sql`FROM ${sessions} WHERE ${eq(sessions.id, session)}
        ON CONFLICT (${bare(accountBrowsers.user_id, accountBrowsers.browser)})
        DO UPDATE SET ${bare(accountBrowsers.seen_at)} = ${now} WHERE ${lt(accountBrowsers.seen_at, now - DAY)}`,
    ),
  }
}

/** Forgets the browsers of a user, so that the next sign-in from each is noticed. */
export function forgetBrowsers(db: Directory, userId: string) {
  return db.delete(accountBrowsers).where(eq(accountBrowsers.user_id, userId))
}

/** Deletes `most` of the browsers that have not signed in for long. */
export function purgeBrowsers(db: Directory, now: number, most: number) {
  const { user_id, browser, seen_at } = accountBrowsers
  return deleteSome(db, accountBrowsers, { key: [user_id, browser], where: lt(seen_at, now - BROWSER_KEPT), most })
}

/** Reads a user. */
export function findUser(db: Directory, id: string) {
  return db.select().from(users).where(eq(users.id, id))
}

/**
 * Turns the notices to a user on or off, and logs it. Turning them off is the last notice.
 *
 * @returns the user as they are now, and whether that last notice is due and within the limit; null if there is no such user
 */
export async function setNotices(
  db: Directory,
  { user_id, session, client, now }: { user_id: string; session: string; client: Client; now: number },
  on: boolean,
): Promise<{ user: User; due: boolean; counted: boolean } | null> {
  const changing = and(eq(users.id, user_id), eq(users.notices, !on))
  const changes = db.select({ one: sql`1` }).from(users).where(changing)
  const { counted, changed, user } = await batch(db, {
    logged: sessionEvent(
      db,
      { type: on ? 'notices_on' : 'notices_off', client, now },
      and(eq(sessions.id, session), sql`EXISTS ${changes}`),
    ),
    counted: countNotice(db, now, user_id, { when: sql`${!on}`, most: NOTICES_A_DAY_IN_ALL }),
    changed: db.update(users).set({ notices: on }).where(changing).returning({ id: users.id }),
    user: findUser(db, user_id),
  })
  return user[0] ? { user: user[0], due: !on && changed.length > 0, counted: counted.length > 0 } : null
}
