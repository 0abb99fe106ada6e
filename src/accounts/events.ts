import { and, type Column, desc, eq, lt, type SQL, sql } from 'drizzle-orm'
import type { Directory, Query } from '../db/client'
import { deleteSome } from '../db/delete-some'
import { insertFrom } from '../db/insert-from'
import { bare } from '../db/sql'
import { replaced } from '../db/upsert'
import { idFloor, newId } from '../lib/ids'
import { HOUR } from '../lib/time'
import type { ByClient, Client } from './by'
import { EVENTS_KEPT } from './limits'
import { accountEvents, type EventType, sessions, signInCodes, users } from './schema'

export type AccountEvent = typeof accountEvents.$inferSelect

/** An event to write. */
type Happened = ByClient & { type: EventType }

/** Failed attempts, and the millisecond of the hour that the ids of each kind have. */
const FAILED = { sign_in_failed: 0, recovery_code_failed: 1 } as const satisfies Partial<Record<EventType, number>>

/**
 * Logs an event of a session, for the batch of the change.
 *
 * @param which the session, as it is when the statement runs: before it is deleted, or after it was made
 */
export function sessionEvent(db: Directory, { type, client, now }: Happened, which: SQL | undefined): Query<void> {
  const row = {
    ...clientColumns(client),
    user_id: sessions.user_id,
    id: sql`${newId('aev', now)}`,
    type: sql`${type}`,
    at: sql`${now}`,
    session_id: sessions.id,
  }
  return insertFrom(db, accountEvents, row, sql`FROM ${sessions} WHERE ${which}`)
}

/**
 * Logs that sessions end because their tokens were exposed, for the batch of their end. No client of the user's did it.
 *
 * @param ids the ids of the events, of which there are enough
 */
export function exposedEvents(db: Directory, which: SQL | undefined, ids: readonly string[], now: number): Query<void> {
  const row = {
    user_id: sessions.user_id,
    id: sql`${JSON.stringify(ids)} ->> (row_number() OVER (ORDER BY ${sessions.id}) - 1)`,
    type: sql`'session_exposed'`,
    at: sql`CAST(${now} AS INTEGER)`,
    session_id: sessions.id,
  }
  return insertFrom(db, accountEvents, row, sql`FROM ${sessions} WHERE ${which}`)
}

/**
 * Counts a wrong code, for the batch that tries it. An address that is no user's leaves nothing.
 *
 * @param which the sign-in code that was tried, if the attempt is wrong
 */
export function wrongCodeEvent(db: Directory, by: ByClient, which: SQL | undefined): Query<void> {
  const from = sql`FROM ${signInCodes} INNER JOIN ${users} ON ${eq(users.email, signInCodes.email)} WHERE ${which}`
  return failedEvent(db, by, { type: 'sign_in_failed', user_id: users.id, from })
}

/**
 * Counts a wrong recovery code, for the batch that tries it.
 *
 * @param which the session in which it was tried, if the attempt is wrong
 */
export function wrongRecoveryCodeEvent(db: Directory, by: ByClient, which: SQL | undefined): Query<void> {
  return failedEvent(db, by, {
    type: 'recovery_code_failed',
    user_id: sessions.user_id,
    from: sql`FROM ${sessions} WHERE ${which}`,
  })
}

/** Counts a failed attempt: one row for each user, kind and hour, with the client of the last attempt. */
function failedEvent(
  db: Directory,
  { client, now }: ByClient,
  { type, user_id, from }: { type: keyof typeof FAILED; user_id: Column; from: SQL },
): Query<void> {
  const { count, at, user_agent, country } = accountEvents
  const row = {
    ...clientColumns(client),
    user_id,
    id: sql`${idFloor('aev', Math.floor(now / HOUR) * HOUR + FAILED[type])}`,
    type: sql`${type}`,
    at: sql`${now}`,
  }
  return insertFrom(
    db,
    accountEvents,
    row,
    sql`${from}
      ON CONFLICT (${bare(accountEvents.user_id, accountEvents.id)})
      DO UPDATE SET ${bare(count)} = ${count} + 1, ${replaced(at, user_agent, country)}`,
  )
}

function clientColumns({ user_agent, country }: Client) {
  return { user_agent: sql`${user_agent}`, country: sql`${country}` }
}

/** Reads `take` events of a user's account, newest first, starting after the event `before`. */
export function listAccountEvents(
  db: Directory,
  userId: string,
  { before, take }: { before: string | null; take: number },
) {
  return db
    .select()
    .from(accountEvents)
    .where(and(eq(accountEvents.user_id, userId), before === null ? undefined : lt(accountEvents.id, before)))
    .orderBy(desc(accountEvents.id))
    .limit(take)
}

/** Deletes `most` of the events that are too old. */
export function purgeAccountEvents(db: Directory, now: number, most: number) {
  const { user_id, id, at } = accountEvents
  return deleteSome(db, accountEvents, { key: [user_id, id], where: lt(at, now - EVENTS_KEPT), most })
}
