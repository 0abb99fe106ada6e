import { and, eq, type SQL } from 'drizzle-orm'
import { type By, sessionEvent } from '../accounts/events-store'
import { batch, type Directory, type Queries } from '../db/client'
import { sessions } from './schema'
import type { Session } from './store'

/**
 * One way to prove again who one is, such as a code. A second way needs only another proof.
 *
 * `holds` is the condition that the proof is good. `uses` are the statements that use it up: they run after `holds` was
 * asked, whatever the answer, so they also count failed attempts.
 */
export type Proof = { holds: SQL | undefined; uses: Queries }

/**
 * Confirms a session of the user if the proof holds, and logs it.
 *
 * @param by who confirms it, and when
 * @returns the session as it is now; null if the proof does not hold
 */
export async function confirmSession(
  db: Directory,
  { id, user_id }: { id: string; user_id: string },
  { holds, uses }: Proof,
  by: By,
): Promise<Session | null> {
  const proven = and(eq(sessions.id, id), eq(sessions.user_id, user_id), holds)
  const { confirmed } = await batch(db, {
    logged: sessionEvent(db, { ...by, type: 'confirmed' }, proven),
    confirmed: db.update(sessions).set({ confirmed_at: by.now }).where(proven).returning(),
    ...uses,
  })
  return confirmed[0] ?? null
}
