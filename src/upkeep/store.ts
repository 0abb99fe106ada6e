import { and, gte, inArray, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, run } from '../db/client'
import { leftBy } from '../inbox/lifecycle'
import { isOpenProject, openProjects } from '../inbox/open-projects'
import { type Claimed, type EventKey, selectClaimed } from '../inbox/process/claim'
import { MAX_TRIES } from '../inbox/process/limits'
import { events } from '../inbox/schema'
import { MAX_SWEPT_EVENTS, RESEND_EVERY_MS } from './limits'

const e = alias(events, 'e')

/** The open events of one project, inside the sweep's statements. */
const i = alias(events, 'i')

const key = { project_id: events.project_id, event_id: events.id }

/** The last try ended with a dead worker, and no tries are left. */
const usedUp = and(inArray(i.status, leftBy('give_up')), gte(i.tries, MAX_TRIES)) as SQL

/**
 * Takes the events that are due and that no worker holds, fair over projects, and moves their `due_at` ahead: the sweep
 * looks at what it has sent only after the Queue has had time for it.
 */
export function takeDue(db: Db, now: number): Promise<EventKey[]> {
  return run(
    db,
    db
      .update(events)
      .set({ due_at: now + RESEND_EVERY_MS })
      .where(isAmong(due(now, not(usedUp))))
      .returning(key),
  )
}

/**
 * Takes over `most` of the events whose last try ended with a dead worker, so that a verdict can be written. They are fenced
 * by the lease, as any claim is.
 */
export async function takeDead(
  db: Db,
  { lease, leaseUntil, most }: { lease: string; leaseUntil: number; most: number },
  now: number,
): Promise<Claimed[]> {
  const taken = await run(
    db,
    db
      .update(events)
      .set({ lease_token: lease, lease_until: leaseUntil })
      .where(isAmong(sql`${due(now, usedUp)} LIMIT ${most}`))
      .returning(key),
  )
  return taken.length === 0 ? [] : run(db, selectClaimed(db, taken, lease))
}

function isAmong(keys: SQL): SQL {
  return sql`(${events.project_id}, ${events.id}) IN (${keys})`
}

/** The keys of due events that no worker holds, project by project, without deleted projects. A condition on `i` narrows them. */
function due(now: number, condition: SQL): SQL {
  return sql`WITH RECURSIVE ${openProjects} SELECT ${e.project_id}, ${e.id} FROM p CROSS JOIN ${events} ${e}
    WHERE ${isOpenProject} AND ${e.project_id} = p.id AND ${e.id} IN (
      SELECT ${i.id} FROM ${events} ${i} INDEXED BY events_open
      WHERE ${i.project_id} = p.id AND ${i.due_at} <= ${now} AND (${i.lease_until} IS NULL OR ${i.lease_until} <= ${now})
        AND ${condition}
      ORDER BY ${i.due_at} LIMIT ${MAX_SWEPT_EVENTS})`
}
