import { and, eq, gt, isNotNull, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db, run } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded, literals } from '../db/sql'
import { idFloor, idTime } from '../lib/ids'
import { HOUR, MINUTE } from '../lib/time'
import { readState } from '../stores/state'
import { keepFirstAttempts } from './attempts'
import { dueOf } from './held'
import { binOf } from './histogram'
import { FINAL_STATUSES, type FinalStatus } from './lifecycle'
import { MINUTES_KEPT_MS } from './limits'
import { attempts, events, minutes, replays, totals } from './schema'
import { isDelivered, isSince } from './sources'

/*
 * After a restore. A backup is not a snapshot: it has an event as it was when its row was read, and what the event did as it was
 * at other moments. Effects are a function of the events, so every event that was worked on during the backup is processed again.
 * What it had added to counts is subtracted first.
 */

/** Events that one statement looks at. */
const CHUNK = 2000

const e = alias(events, 'e')
const t = alias(attempts, 't')

/**
 * Resets each event of a project that was open, or was worked on since a time, to one that has just been received. Then it counts
 * the others anew. Doing it again changes nothing.
 *
 * @param since when the backup began (ms)
 * @param now when they are due (ms), unless their connection is paused
 * @returns how many events are open
 */
export async function reopenEvents(db: Db, projectId: string, since: number, now: number): Promise<number> {
  for (let after: string | null = ''; after !== null; ) after = await reopenSome(db, { projectId, after, since, now })
  await run(db, db.delete(totals).where(eq(totals.project_id, projectId)))
  const counted = db
    .select({ project_id: e.project_id, status: e.status, n: sql<number>`count(*)` })
    .from(e)
    .where(
      sql`${e.project_id} = ${projectId} AND ${e.status} IN (${literals(FINAL_STATUSES)}) AND ${isDelivered(e.id)}`,
    )
    .groupBy(e.project_id, e.status)
  for (const row of await run(db, counted)) await run(db, db.insert(totals).values(row).onConflictDoNothing())
  const open = await run(
    db,
    db
      .select({ id: events.id, replay_id: events.replay_id })
      .from(events)
      .where(and(eq(events.project_id, projectId), isNotNull(events.due_at))),
  )
  for (const hour of new Set(open.map(({ id }) => Math.floor(idTime(id) / HOUR)))) {
    await countHour(db, projectId, hour, since)
  }
  const asked = new Set(open.flatMap(({ replay_id }) => replay_id ?? []))
  for (const id of asked) await countReplay(db, projectId, id)
  return open.length
}

type Slice = { projectId: string; after: string; since: number; now: number }

/** @returns the last event that was looked at; null if there are no more */
async function reopenSome(db: Db, { projectId, after, since, now }: Slice): Promise<string | null> {
  const own = and(eq(events.project_id, projectId), gt(events.id, after))
  const ids = await run(db, db.select({ id: events.id }).from(events).where(own).orderBy(events.id).limit(CHUNK))
  const last = ids.at(-1)?.id
  if (last === undefined) return null
  const isLater = (row: typeof t | typeof attempts) => sql`${row.started_at} >= ${since}`
  const touched = (row: typeof e | typeof events) =>
    and(
      sql`${row.project_id} = ${projectId} AND ${row.id} > ${after} AND ${row.id} <= ${last}`,
      or(
        isSince(row.id, since),
        isNotNull(row.due_at),
        sql`${row.processed_at} >= ${since}`,
        // Its effects may be missing, and so may its attempt, which was copied before the event.
        sql`${row.replay_id} >= ${idFloor('rpl', since)}`,
        sql`EXISTS (SELECT 1 FROM ${attempts} ${t} WHERE ${t.event_id} = ${row.id} AND ${isLater(t)})`,
      ),
    ) as SQL
  const count = sql`(SELECT count(*) FROM ${attempts} ${t} WHERE ${t.event_id} = ${events.id} AND NOT ${isLater(t)})`
  const error = sql`(SELECT ${t.error} FROM ${attempts} ${t} WHERE ${t.event_id} = ${events.id} AND NOT ${isLater(t)}
    ORDER BY ${t.number} DESC LIMIT 1)`
  const isUndone = sql`(${events.processed_at} IS NULL OR ${events.processed_at} >= ${since})`
  await batch(db, {
    // A first attempt that followed from its event, and that stays, no longer follows from it.
    first: keepFirstAttempts(db, and(touched(events), sql`NOT ${isUndone}`)),
    events: db
      .update(events)
      .set({
        status: 'received',
        due_at: dueOf(events, now),
        next_attempt_at: null,
        lease_token: null,
        lease_until: null,
        attempts: sql`${count}`,
        tries: 0,
        last_error: sql`${error}`,
        last_error_code: sql`CASE WHEN ${error} IS NOT NULL THEN ${events.last_error_code} END`,
        summary: sql`CASE WHEN NOT ${isUndone} THEN ${events.summary} END`,
        summary_rest: sql`CASE WHEN NOT ${isUndone} THEN ${events.summary_rest} END`,
        processed_at: sql`CASE WHEN NOT ${isUndone} THEN ${events.processed_at} END`,
        started_at: sql`CASE WHEN NOT ${isUndone} THEN ${events.started_at} END`,
      })
      .where(touched(events)),
    attempts: db
      .delete(attempts)
      .where(
        sql`${isLater(attempts)} AND ${attempts.event_id} IN (SELECT ${e.id} FROM ${events} ${e} WHERE ${touched(e)})`,
      ),
  })
  return last
}

type Counts = { minute: number; connection_id: string; received: number; lag: Record<number, number> } & {
  [Name in FinalStatus | 'lag_sum' | 'lag_max']: number
}

/** Counts the events of an hour anew. Counts of refusals and duplicates stay as they are: no event tells of them. */
async function countHour(db: Db, projectId: string, hour: number, since: number): Promise<void> {
  const from = (hour * HOUR) / MINUTE
  const to = from + HOUR / MINUTE
  const isFolded = hour * HOUR < Math.floor((since - MINUTES_KEPT_MS) / HOUR) * HOUR
  const [noted] = await run(db, readState(db, 'fewer_rows_from'))
  const atIngest = noted?.value ?? 0 // events from before then count as received while they are open: see fewer-rows.ts
  const rows = new Map<string, Counts>()
  const countsOf = (minute: number, connection_id: string) => {
    const key = `${minute} ${connection_id}`
    const none = { received: 0, processed: 0, ignored: 0, failed: 0, lag_sum: 0, lag_max: 0 }
    const row = rows.get(key) ?? { minute, connection_id, ...none, lag: {} }
    rows.set(key, row)
    return row
  }
  const inHour = sql`${minutes.project_id} = ${projectId} AND ${minutes.minute} >= ${from} AND ${minutes.minute} < ${to}`
  const known = db.select({ minute: minutes.minute, connection_id: minutes.connection_id }).from(minutes).where(inHour)
  for (const { minute, connection_id } of await run(db, known)) countsOf(minute, connection_id)
  for (let after = idFloor('evt', hour * HOUR); ; ) {
    const page = await run(db, firstResults(db, projectId, after, idFloor('evt', (hour + 1) * HOUR)))
    for (const { id, connection_id, result, processed_at, released_at } of page) {
      const row = countsOf(isFolded ? from : Math.floor(idTime(id) / MINUTE), connection_id)
      if (result !== null || idTime(id) < atIngest) row.received += 1
      if (result === null) continue
      row[result] += 1
      if (result === 'failed' || processed_at === null) continue
      const lag = Math.max(0, processed_at - (released_at ?? idTime(id)))
      row.lag[binOf(lag)] = (row.lag[binOf(lag)] ?? 0) + 1
      row.lag_sum += lag
      row.lag_max = Math.max(row.lag_max, lag)
    }
    if (page.length < CHUNK) break
    after = page.at(-1)?.id ?? ''
  }
  const field = (name: keyof Counts) => sql`j.value ->> ${literals([name])}`
  const counts = ['received', 'processed', 'ignored', 'failed', 'lag', 'lag_sum', 'lag_max'] as const
  const values = Object.fromEntries(counts.map((name) => [name, field(name)])) as Record<(typeof counts)[number], SQL>
  const anew = sql.join(
    counts.map((name) => sql`${bare(minutes[name])} = ${excluded(minutes[name])}`),
    sql`, `,
  )
  const key = { project_id: sql`${projectId}`, minute: field('minute'), connection_id: field('connection_id') }
  const counted = sql`FROM json_each(${JSON.stringify([...rows.values()])}) j WHERE true ON CONFLICT DO UPDATE SET ${anew}`
  await run(db, insertFrom(db, minutes, { ...key, ...values }, counted))
}

/** How the events of a time first ended, as rollups count them. A replay does not change these counts. */
function firstResults(db: Db, projectId: string, after: string, before: string) {
  const result = sql<FinalStatus | null>`coalesce(
    (SELECT ${t.outcome} FROM ${attempts} ${t} WHERE ${t.event_id} = ${events.id} AND ${t.outcome} IN (${literals(FINAL_STATUSES)})
      ORDER BY ${t.number} LIMIT 1),
    CASE WHEN ${events.processed_at} IS NOT NULL THEN ${events.status} END)`
  return db
    .select({
      id: events.id,
      connection_id: events.connection_id,
      result: result.as('result'),
      processed_at: events.processed_at,
      released_at: events.released_at,
    })
    .from(events)
    .where(sql`${events.project_id} = ${projectId} AND ${events.id} > ${after} AND ${events.id} < ${before}`)
    .orderBy(events.id)
    .limit(CHUNK)
}

/**
 * Counts anew what a replay has done. An event that is now as before its first end leaves its replay, so that its end counts in the
 * rollups. All others keep it, also if the backup lacks the replay: they have counted.
 */
async function countReplay(db: Db, projectId: string, id: string): Promise<void> {
  const isOf = and(eq(events.project_id, projectId), eq(events.replay_id, id))
  const isFirst = sql`${isOf} AND ${events.processed_at} IS NULL AND NOT EXISTS (SELECT 1 FROM ${attempts} ${t}
    WHERE ${t.event_id} = ${events.id} AND ${t.outcome} IN (${literals(FINAL_STATUSES)}))`
  const countOf = (which: SQL) => sql`(SELECT count(*) FROM ${events} WHERE ${which})`
  const counted = (status: FinalStatus) => countOf(sql`${isOf} AND ${eq(events.status, status)}`)
  const counts = { processed: counted('processed'), ignored: counted('ignored'), failed: counted('failed') }
  await batch(db, {
    replay: db
      .update(replays)
      .set({ queued: sql`${replays.queued} - ${countOf(isFirst)}`, ...counts })
      .where(and(eq(replays.project_id, projectId), eq(replays.id, id))),
    first: db.update(events).set({ replay_id: null }).where(isFirst),
  })
}
