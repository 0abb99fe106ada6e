import { and, eq, inArray, sql } from 'drizzle-orm'
import { type Db, run } from '../../db/client'
import { leftBy } from '../lifecycle'
import { FIRST_DUE_MS } from '../limits'
import { events } from '../schema'
import { DIED, type EventKey, isListed, listed } from './claim'

/**
 * Undoes claims: the events are as they were, with all their tries, and due now. An event that was taken over from a worker that died keeps that
 * attempt, so it waits for its next one.
 *
 * @param lease under which they are held; an event that is not is left alone. `died`: whether they were taken over
 */
export async function handBack(
  db: Db,
  keys: readonly EventKey[],
  { lease, died }: { lease: string; died: boolean },
  now: number,
): Promise<void> {
  if (keys.length === 0) return
  const { tries, replay_id } = events
  const wasTried = sql`${tries} > 1`
  await run(
    db,
    db
      .update(events)
      .set({
        status: sql`CASE WHEN ${wasTried} THEN 'retrying' WHEN ${replay_id} IS NULL THEN 'received' ELSE 'queued' END`,
        due_at: now + FIRST_DUE_MS,
        next_attempt_at: sql`CASE WHEN ${wasTried} THEN ${now} END`,
        lease_token: null,
        lease_until: null,
        attempts: sql`${events.attempts} - 1`,
        tries: sql`${tries} - 1`,
        ...(died && { last_error: DIED, last_error_code: 'worker_died' as const }),
      })
      .from(listed(keys))
      .where(and(isListed, eq(events.lease_token, lease), inArray(events.status, leftBy('hand_back')))),
  )
}
