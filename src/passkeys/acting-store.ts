import { and, eq, exists, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { sessions } from '../sessions/schema'

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
