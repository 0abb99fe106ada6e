import { and, eq, exists, gt, isNotNull, ne, or, type SQL, sql } from 'drizzle-orm'
import { sessions } from '../accounts/schema'
import type { Directory } from '../db/client'

/** The session that a user acts in. */
export type Acting = { id: string; user_id: string }

/** The row of the session. */
export function isSession({ id, user_id }: Acting): SQL | undefined {
  return and(eq(sessions.id, id), eq(sessions.user_id, user_id))
}

/** Whether the session has its second factor. */
export function isProven(db: Directory, session: Acting): SQL {
  return exists(
    db
      .select({ one: sql`1` })
      .from(sessions)
      .where(and(isSession(session), isNotNull(sessions.second_factor_at))),
  )
}

/**
 * Takes the second factor and the confirmation from the user's other sessions, for the batch that takes away what may have
 * given them: somebody else may hold one of these sessions.
 *
 * @param when whether it is taken away, as it is when the statement runs
 */
export function othersUnproven(db: Directory, { id, user_id }: Acting, when: SQL | undefined) {
  const others = and(eq(sessions.user_id, user_id), ne(sessions.id, id))
  const proved = or(isNotNull(sessions.second_factor_at), gt(sessions.confirmed_at, 0))
  return db
    .update(sessions)
    .set({ second_factor_at: null, confirmed_at: 0 })
    .where(and(others, proved, when))
}
