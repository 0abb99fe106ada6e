import {
  and,
  count,
  desc,
  eq,
  exists,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  not,
  notExists,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { audited, type Change } from '../../audit/store'
import { batch, type Db, run } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import { valuesOf } from '../../db/sql'
import { overLimit } from '../../http/rate-limit'
import { keptWith } from '../../idempotency/claim'
import { Fault } from '../../lib/fault'
import { idFloor, idTime } from '../../lib/ids'
import { DAY, iso, SECOND } from '../../lib/time'
import { keepFirstAttempts } from '../attempts'
import { type EventRow, findEvent } from '../events/events'
import { isPaused, notOnHold } from '../held'
import { isFinal, leftBy } from '../lifecycle'
import { FIRST_DUE_MS } from '../limits'
import { hasPayload } from '../payload'
import { events, replays, totals } from '../schema'
import { isDelivered } from '../sources'
import { BULK_RUNS_MS, MAX_REPLAYED_A_DAY } from './limits'

export type ReplayRow = typeof replays.$inferSelect
/** No event of a new replay has ended yet. */
const NONE_ENDED = { processed: 0, ignored: 0, failed: 0 }

/**
 * Opens a final event again. An event that is already open has a run on its way, so nothing changes, except that a
 * waiting retry becomes due now.
 *
 * @returns whether this call opened the event, and the event as it is now; null if the project has no such event
 * @throws {Fault} `payload_gone`, `connection_paused`
 */
export async function reopen(
  db: Db,
  target: { project_id: string; event_id: string; replay_id: string },
  change: Change,
): Promise<{ opened: boolean; event: EventRow } | null> {
  const { project_id, event_id, replay_id } = target
  const { now, actor } = change
  const one = and(eq(events.project_id, project_id), eq(events.id, event_id))
  const final = and(one, replayable(db))
  const statusNow = db.select({ status: events.status }).from(events).where(final)
  const entry = { project_id, action: 'event.replayed', object_type: 'event', object_id: event_id }
  const { changed, event } = await batch(db, {
    retry: db
      .update(events)
      .set({ due_at: now, next_attempt_at: now })
      .where(and(one, eq(events.status, 'retrying'), notOnHold(events), not(isPaused(events)))),
    // The total and the replay's row change before the event does, on the condition under which it will.
    total: db
      .update(totals)
      .set({ n: sql`${totals.n} - 1` })
      .where(
        and(eq(totals.project_id, project_id), eq(totals.status, sql`(${statusNow})`), isDelivered(sql`${event_id}`)),
      ),
    replay: insertWhere(
      db,
      replays,
      { project_id, id: replay_id, actor: actor.id, event_id, queued: 1, ...NONE_ENDED },
      exists(statusNow),
    ),
    first: keepFirstAttempts(db, final),
    ...audited(db, change, entry, queue(db, replay_id, now, final)),
    ...keptWith(db, change, replay_id),
    event: findEvent(db, project_id, 'summary', event_id),
  })
  const [row] = event
  if (!row) return null
  if (row.connection_status === 'paused' && changed.length === 0) throw connectionPaused()
  if (isFinal(row.status)) throw payloadGone()
  return { opened: changed.length > 0, event: row }
}

export function connectionPaused(): Fault {
  return new Fault('connection_paused', 'No event of a paused connection is processed. Resume the connection first.')
}

export function payloadGone(): Fault {
  return new Fault(
    'payload_gone',
    'The payload was deleted: its retention period has ended, or its consumer was erased. The decoded summary remains.',
  )
}

/** What a bulk replay is to reopen. `next_cursor`: where the next one continues; null if nothing matched after these. */
type BulkTarget = {
  project_id: string
  replay_id: string
  event_ids: readonly string[]
  filter: Record<string, unknown>
  next_cursor?: string | null
}

/**
 * Opens many final events again, as one replay, unless another is running or the day's budget is spent: see
 * {@link requireNoneRunning}, which the caller asks before. Here the same condition keeps out a start at the same moment.
 *
 * @returns the ids of the events it opened. The others are already open, or their payloads have been deleted.
 * @throws {Fault} `replay_running`, `rate_limited`
 */
export async function reopenMany(db: Db, target: BulkTarget, change: Change): Promise<string[]> {
  const { project_id, replay_id, event_ids, filter, next_cursor = null } = target
  const { now, actor } = change
  const matched = event_ids.length
  const final = and(replayableAmong(db, project_id, event_ids), isFree(db, project_id, now))
  const entry = {
    project_id,
    action: 'events.replayed',
    object_type: 'replay',
    object_id: replay_id,
    details: { filter, matched },
  }
  // The query for the events that it opens runs twice: before they change, for the totals, and in the change itself.
  const counted = db
    .select({ status: sql`${events.status}`.as('from_status'), n: count().as('opened') })
    .from(events)
    .where(and(final, isDelivered(events.id)))
    .groupBy(events.status)
    .as('counted')
  const opened = and(isAmong(project_id, event_ids), eq(events.replay_id, replay_id))
  const { changed, newest } = await batch(db, {
    newest: newestBulk(db, project_id),
    totals: db
      .update(totals)
      .set({ n: sql`${totals.n} - ${counted.n}` })
      .from(counted)
      .where(and(eq(totals.project_id, project_id), eq(totals.status, counted.status))),
    first: keepFirstAttempts(db, final),
    ...audited(db, change, entry, queue(db, replay_id, now, final)),
    ...keptWith(db, change, replay_id),
    replay: db.insert(replays).select(
      db
        .select({
          project_id: sql`${project_id}`.as('project_id'),
          id: sql`${replay_id}`.as('id'),
          actor: sql`${actor.id}`.as('actor'),
          event_id: sql`NULL`.as('event_id'),
          filter: sql`${sql.param(filter, replays.filter)}`.as('filter'),
          queued: count().as('queued'),
          processed: sql`0`.as('processed'),
          ignored: sql`0`.as('ignored'),
          failed: sql`0`.as('failed'),
          day_events: sql`count(*) + ${spentSoFar(db, project_id, now)}`.as('day_events'),
          matched: sql`CAST(${matched} AS INTEGER)`.as('matched'),
          next_cursor: sql`${next_cursor}`.as('next_cursor'),
        })
        .from(events)
        .where(opened)
        .having(gt(count(), 0)),
    ),
  })
  if (changed.length === 0) refuseUnlessFree(newest, now)
  return changed.map(({ id }) => id)
}

/**
 * Asks whether the project may start a bulk replay now: one at a time, and a number of events a day.
 *
 * @throws {Fault} `replay_running`, `rate_limited`
 */
export async function requireNoneRunning(db: Db, projectId: string, now: number): Promise<void> {
  refuseUnlessFree(await run(db, newestBulk(db, projectId)), now)
}

function refuseUnlessFree([newest]: readonly ReplayRow[], now: number): void {
  if (!newest) return
  const { id, queued, day_events } = newest
  if (isRunning(newest, now)) {
    const progress = `${openOf(newest)} of its ${queued} events are still open`
    throw new Fault('replay_running', `The replay ${id} is running: ${progress}. Another can begin when it is done.`)
  }
  if (id < dayFrom(now) || (day_events ?? 0) < MAX_REPLAYED_A_DAY) return
  const tomorrow = (Math.floor(now / DAY) + 1) * DAY
  const spent = `Bulk replays have reopened ${day_events?.toLocaleString('en')} events of the project today (UTC)`
  const limit = { name: 'bulk_replay', requests: MAX_REPLAYED_A_DAY, window: DAY / SECOND }
  throw overLimit(limit, `${spent}. The next can begin at ${iso(tomorrow)}.`, Math.ceil((tomorrow - now) / SECOND))
}

/** The project's newest bulk replay. Those before it were done, or had run for long, when it began. */
function newestBulk(db: Db, projectId: string) {
  return db
    .select()
    .from(replays)
    .where(and(eq(replays.project_id, projectId), isNull(replays.event_id)))
    .orderBy(desc(replays.id))
    .limit(1)
}

/** What {@link refuseUnlessFree} lets pass, as a condition of the statements that start a replay. */
function isFree(db: Db, projectId: string, now: number): SQL {
  const newest = newestBulk(db, projectId).as('newest')
  const open = sql`${newest.queued} - ${newest.processed} - ${newest.ignored} - ${newest.failed}`
  const running = and(gte(newest.id, idFloor('rpl', now - BULK_RUNS_MS)), gt(open, 0))
  const spent = and(gte(newest.id, dayFrom(now)), gte(newest.day_events, MAX_REPLAYED_A_DAY))
  return notExists(db.select({ one: sql`1` }).from(newest).where(or(running, spent)))
}

/** How many events bulk replays have reopened today, as an expression. */
function spentSoFar(db: Db, projectId: string, now: number): SQL {
  const newest = newestBulk(db, projectId).as('newest')
  const today = db
    .select({ n: newest.day_events })
    .from(newest)
    .where(gte(newest.id, dayFrom(now)))
  return sql`coalesce((${today}), 0)`
}

/** The smallest id of a replay of today (UTC). */
function dayFrom(now: number): string {
  return idFloor('rpl', Math.floor(now / DAY) * DAY)
}

/** Counts the events that {@link reopenMany} would open. */
export function countReplayable(db: Db, projectId: string, eventIds: readonly string[]) {
  return db
    .select({ n: count() })
    .from(events)
    .where(replayableAmong(db, projectId, eventIds))
}

/** Reads a replay of the project. */
export function findReplay(db: Db, projectId: string, id: string) {
  return db
    .select()
    .from(replays)
    .where(and(eq(replays.project_id, projectId), eq(replays.id, id)))
}

/** Reads `take` of the project's replays, newest first, starting after the replay `before`. */
export function listReplays(db: Db, projectId: string, { before, take }: { before: string | null; take: number }) {
  return db
    .select()
    .from(replays)
    .where(and(eq(replays.project_id, projectId), before === null ? undefined : lt(replays.id, before)))
    .orderBy(desc(replays.id))
    .limit(take)
}

/** Whether a bulk replay keeps the next one waiting. */
export function isRunning(row: ReplayRow, now: number): boolean {
  return (openOf(row) ?? 0) > 0 && idTime(row.id) >= now - BULK_RUNS_MS
}

/** The events of a replay that have not ended; null if that was not counted. */
export function openOf({
  queued,
  processed,
  ignored,
  failed,
}: Pick<ReplayRow, 'queued' | 'processed' | 'ignored' | 'failed'>) {
  return processed === null || ignored === null || failed === null ? null : queued - processed - ignored - failed
}

function queue(db: Db, replay_id: string, now: number, condition: SQL | undefined) {
  return db
    .update(events)
    .set({ status: 'queued', due_at: now + FIRST_DUE_MS, tries: 0, replay_id, released_at: null })
    .where(condition)
    .returning({ id: events.id })
}

function replayableAmong(db: Db, projectId: string, eventIds: readonly string[]) {
  return and(isAmong(projectId, eventIds), replayable(db))
}

function isAmong(projectId: string, eventIds: readonly string[]) {
  return and(eq(events.project_id, projectId), inArray(events.id, valuesOf(eventIds)))
}

/** A final event of a connection that is not paused, whose payload is still there: without it, processing could only fail. */
function replayable(db: Db) {
  return and(inArray(events.status, leftBy('replay')), hasPayload(db, events), not(isPaused(events)))
}
