import { and, gte, inArray, not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { newId } from '../../lib/ids'
import { within } from '../../lib/within'
import { writeState } from '../../stores/state'
import { fail } from '../../vendors/event-errors'
import { isFetchedApart } from '../fetched-apart'
import { isPaused } from '../held'
import { leftBy } from '../lifecycle'
import { sendEvents } from '../messages'
import { isOpenProject, openProjects } from '../open-projects'
import { events } from '../schema'
import { type Claimed, type EventKey, selectClaimed } from './claim'
import {
  GIVE_UP_STATEMENTS,
  LEASE_MS,
  MAX_GIVEN_UP,
  MAX_SWEPT_EVENTS,
  MAX_TRIES,
  RESEND_EVERY_MS,
  SEND_WITHIN_MS,
} from './limits'
import type { Verdict } from './verdict'
import { writeVerdicts } from './write-verdicts'

/**
 * Sends every event again that is due and that no worker holds: this finds whatever the Queue has lost. An event fails
 * once each of its tries has ended with a dead worker.
 *
 * @param most.statements that it may send to give events up
 */
export async function sweep(rt: Runtime, most: { statements: number }): Promise<void> {
  const due = await takeDue(rt.db, rt.now)
  await sendDue(rt, due, { via: 'sweep' })
  const given_up = await giveUp(rt, most.statements)
  await writeState(rt.db, 'last_sweep_at', rt.now)
  if (due.length + given_up > 0) {
    writeLog('info', 'sweep', { resent: due.length, given_up, d1_rows_read: rt.db.meter.rows_read })
  }
}

/** An event to be sent. `is_apart`: its object is fetched. */
export type DueEvent = EventKey & { is_apart: boolean }

/** Sends events to the queues that they belong to. */
export async function sendDue(
  { events, fetches }: Runtime,
  due: readonly DueEvent[],
  how: { via?: 'sweep'; perSecond?: number },
): Promise<void> {
  const [others, apart] = [due.filter((one) => !one.is_apart), due.filter((one) => one.is_apart)]
  await Promise.all([
    others.length > 0 && within(SEND_WITHIN_MS, sendEvents(events, others, how)),
    apart.length > 0 && within(SEND_WITHIN_MS, sendEvents(fetches, apart, { ...how, what: 'event' })),
  ])
}

async function giveUp(rt: Runtime, statements: number): Promise<number> {
  const { db, now } = rt
  const lease = newId('lse', now)
  const most = Math.min(MAX_GIVEN_UP, Math.floor(statements / GIVE_UP_STATEMENTS))
  const dead = await takeDead(db, { lease, leaseUntil: now + LEASE_MS, most }, now)
  if (dead.length > 0)
    await writeVerdicts(
      rt,
      dead.map((event) => diedWithWorkers(event, now)),
      lease,
    )
  return dead.length
}

function diedWithWorkers(event: Claimed, now: number): Verdict {
  return {
    event,
    status: 'failed',
    error: fail('worker_died', `worker_died: ${event.tries} workers in a row did not finish it within their lease`),
    due_at: null,
    trigger: 'retry',
    started_at: now,
    summary: null,
    snapshots: [],
    claims: [],
  }
}

const e = alias(events, 'e')

/** The open events of one project, inside the sweep's statements. */
const i = alias(events, 'i')

const key = { project_id: events.project_id, event_id: events.id }

/** The last try ended with a dead worker, and no tries are left. That of a paused connection is sent, and the worker holds it. */
const usedUp = and(inArray(i.status, leftBy('give_up')), gte(i.tries, MAX_TRIES), not(isPaused(i))) as SQL

/**
 * Takes the events that are due and that no worker holds, fair over projects, and moves their `due_at` ahead: the sweep
 * looks at what it has sent only after the Queue has had time for it.
 */
function takeDue(db: Db, now: number): Promise<DueEvent[]> {
  return run(
    db,
    db
      .update(events)
      .set({ due_at: now + RESEND_EVERY_MS })
      .where(isAmong(due(now, not(usedUp))))
      .returning({ ...key, is_apart: sql<boolean>`${isFetchedApart(events)}`.mapWith(Boolean) }),
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
