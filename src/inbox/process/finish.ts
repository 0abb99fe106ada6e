import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isStale, type Projection, writeObjects } from '../../billing/store'
import { changesOfObjects } from '../../billing/tell'
import { recordChanges } from '../../changes/record'
import { claimed, recordClaims } from '../../consumers/claims'
import { consumerOf, isErased } from '../../consumers/links'
import { batch, ConstraintError, type Db } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { MAX_LIST_BYTES } from '../../db/limits'
import { bare, excluded, literals } from '../../db/sql'
import { addUp, addUpCounts } from '../../db/upsert'
import { type Woken, wakers } from '../../followers/wake'
import { utf8 } from '../../lib/crypto'
import { idTime } from '../../lib/ids'
import { MINUTE } from '../../lib/time'
import { type EventError, fail } from '../../vendors/event-errors'
import { isInDoubt, noteDoubts } from '../doubts/note'
import { fewerRowsFrom } from '../fewer-rows'
import { binOf } from '../histogram'
import { FINAL_STATUSES, leftBy } from '../lifecycle'
import { attempts, events, minutes, refs, replays, totals } from '../schema'
import { isDelivered } from '../sources'
import { storedSummary, summarySet } from '../summary'
import { failingTold } from '../tell'
import { MAX_ERROR_LENGTH } from './limits'
import type { Verdict } from './verdict'

/** The attempts of a batch, as they ended. */
export type Finish = {
  verdicts: readonly Verdict[]
  /** What they do to billing objects. */
  projections: readonly Projection[]
  /** The token under which the events were claimed. */
  lease: string
  /** Milliseconds. */
  now: number
}

/**
 * `noted`: the projects for which objects in doubt were noted. `woken`: who follows what was changed. `stale`: another worker has changed a billing object since it was read.
 * `refused`: which constraint refused the write, or that there is too much to write at once. Nothing was written with these two.
 */
export type Finished = { noted: ReadonlySet<string>; woken: Woken } | 'stale' | { refused: EventError }

/**
 * Writes the verdicts of a batch with what they do to billing objects: set-based statements in one transaction, each
 * fenced by the lease, so that a worker whose lease was taken over writes nothing.
 *
 * @throws {Fault} `database_unavailable`
 */
export async function finish(db: Db, what: Finish): Promise<Finished> {
  const lists = listsOf(what)
  if (what.verdicts.length > 1 && utf8(lists.whole).byteLength > MAX_LIST_BYTES) {
    return { refused: fail('effects_rejected', 'its verdict is too large') }
  }
  try {
    const { doubts, ...results } = await batch(db, finishQueries(db, what, lists))
    const noted = new Set((doubts as Noted | undefined)?.map(({ project_id }) => project_id))
    const { woken_endpoints, woken_watchers } = results as unknown as Woken
    return { noted, woken: { woken_endpoints, woken_watchers } }
  } catch (error) {
    if (isStale(error)) return 'stale'
    if (error instanceof ConstraintError) return { refused: fail('effects_rejected', error.message) }
    throw error
  }
}

type Noted = { project_id: string }[]

/** The event of a verdict, in the statements below. */
const e = alias(events, 'e')

function finishQueries(db: Db, { verdicts, projections, lease, now }: Finish, lists: Lists) {
  const isHeld = (row: typeof e | typeof events) =>
    and(eq(row.lease_token, lease), inArray(row.status, leftBy('finish'))) as SQL
  const isEventOf = (row: typeof e | typeof events) =>
    and(eq(row.project_id, field('project_id')), eq(row.id, field('event_id')), isHeld(row)) as SQL
  const held = sql`FROM json_each(${lists.brief}) j CROSS JOIN ${events} ${e} ON ${isEventOf(e)}`
  const isFinal = sql`${field('status')} IN (${literals(FINAL_STATUSES)})`
  const holdsOneOf = (projectId: SQL, eventIds: SQL) => sql`EXISTS (SELECT 1 FROM json_each(${eventIds}) b
    CROSS JOIN ${events} ${e} ON ${e.project_id} = ${projectId} AND ${e.id} = b.value AND ${isHeld(e)})`
  const doubtful = projections.filter(isInDoubt)
  const written = summarySet(sql`${field('stored')}`)
  const failing = verdicts.filter(({ status }) => status === 'failed').map(({ event }) => event.connection_id)
  return {
    ...writeObjects(db, projections, holdsOneOf, isErased),
    ...(doubtful.length > 0 && { doubts: noteDoubts(db, doubtful, holdsOneOf, now) }),
    refs: insertFrom(
      db,
      refs,
      { project_id: e.project_id, ref: sql`r.value`, event_id: e.id },
      sql`${held} CROSS JOIN json_each(j.value, '$.refs') r WHERE true ON CONFLICT DO NOTHING`,
    ),
    ...(verdicts.some(({ claims }) => claims.length > 0) &&
      recordClaims(db, e.project_id, sql`${held} CROSS JOIN json_each(j.value, '$.claims') k`, sql`k.value`)),
    attempts: insertFrom(db, attempts, attemptRow(now), sql`${held} WHERE NOT ${follows(now)} ON CONFLICT DO NOTHING`),
    minutes: addToMinutes(db, held, isFinal),
    totals: insertFrom(
      db,
      totals,
      { project_id: e.project_id, status: field('status'), n: sql`count(*)` },
      sql`${held} WHERE ${isFinal} AND ${isDelivered(e.id)} GROUP BY 1, 2 ON CONFLICT DO UPDATE SET ${addUp(totals.n)}`,
    ),
    ...(verdicts.some(({ event }) => event.replay_id !== null) && { replays: addToReplays(db, held, isFinal) }),
    changes: recordChanges(
      db,
      sql.join([...changesOfObjects(projections, holdsOneOf, consumerOf), changesOfEvents(held)], sql` UNION ALL `),
    ),
    ...wakers(db, [...new Set(verdicts.map(({ event }) => event.project_id))], now),
    // After all that check the lease, because it gives it up.
    events: db
      .update(events)
      .set({
        status: field('status'),
        due_at: field('due_at'),
        next_attempt_at: field('due_at'),
        lease_token: null,
        lease_until: null,
        last_error: field('error'),
        last_error_code: field('error_code'),
        summary: sql`coalesce(${written.summary}, ${events.summary})`,
        summary_rest: sql`iif(${written.summary} IS NULL, ${events.summary_rest}, ${written.summary_rest})`,
        processed_at: sql`coalesce(${events.processed_at},
          CASE WHEN ${field('due_at')} IS NULL AND ${field('error')} IS NULL THEN ${now} END)`,
        started_at: sql`CASE WHEN ${follows(now)} THEN ${field('started_at')} ELSE ${events.started_at} END`,
      })
      .from(sql`json_each(${lists.whole}) j`)
      .where(isEventOf(events)),
    ...(failing.length > 0 && { failing: failingTold(db, failing, now) }),
  }
}

/** Behind the changes of objects: whoever reads that an event is processed has read what it did. */
const AFTER_OBJECTS = 1_000_000

/** What the feed says of the events themselves. A retry is told once, and that it helped. */
function changesOfEvents(held: SQL): SQL {
  const failedBefore = sql`${e.last_error} IS NOT NULL`
  const type = sql`CASE WHEN ${field('status')} = 'retrying' THEN iif(${failedBefore}, NULL, 'retrying')
    WHEN ${failedBefore} AND ${field('status')} <> 'failed' THEN 'recovered' ELSE ${field('status')} END`
  // Most outcomes are first ones, and have no mark.
  const repeat = sql`CASE WHEN NOT ${failedBefore} AND ${e.processed_at} IS NULL THEN NULL
    WHEN ${e.replay_id} IS NOT NULL AND ${field('status')} <> 'retrying' THEN 'replay' ELSE 'outcome' END`
  const item = sql`json_object('type', 'webhook_event.' || w.type, 'id', w.id)`
  return sql`SELECT w.project_id, w.place, iif(w.repeat IS NULL, ${item}, json_set(${item}, '$.repeat', w.repeat)) AS item
    FROM (SELECT ${e.project_id} AS project_id, ${sql.raw(String(AFTER_OBJECTS))} + j.key AS place, ${e.id} AS id, ${type} AS type,
      ${repeat} AS repeat ${held} WHERE ${isDelivered(e.id)}) w WHERE w.type IS NOT NULL`
}

/** Adds completions to the replays that asked for them. */
function addToReplays(db: Db, held: SQL, isFinal: SQL) {
  return db
    .update(replays)
    .set({
      processed: sql`${replays.processed} + b.processed`,
      ignored: sql`${replays.ignored} + b.ignored`,
      failed: sql`${replays.failed} + b.failed`,
    })
    .from(sql`(SELECT ${e.project_id} AS project_id, ${e.replay_id} AS id, ${counted('processed')} AS processed,
        ${counted('ignored')} AS ignored, ${counted('failed')} AS failed
      ${held} WHERE ${e.replay_id} IS NOT NULL AND ${isFinal} GROUP BY 1, 2) b`)
    .where(sql`${replays.project_id} = b.project_id AND ${replays.id} = b.id`)
}

/** Whether the attempt follows from its event, so that it has no row: see ../attempts.ts. */
function follows(now: number): SQL {
  return sql`(${field('is_first')} AND ${fewerRowsFrom} <= ${now})`
}

function attemptRow(now: number) {
  const actor = sql`(SELECT ${replays.actor} FROM ${replays}
    WHERE ${replays.project_id} = ${e.project_id} AND ${replays.id} = ${e.replay_id})`
  return {
    event_id: e.id,
    number: e.attempts,
    trigger: field('trigger'),
    actor: sql`CASE WHEN ${field('trigger')} = 'replay' THEN ${actor} END`,
    started_at: field('started_at'),
    finished_at: sql`CAST(${now} AS INTEGER)`,
    outcome: field('status'),
    error: field('error'),
  }
}

/**
 * Adds first completions to their minutes of receipt. An event that was ever replayed was added before. Whether an event was already
 * counted as received when it was recorded depends on when that was.
 */
function addToMinutes(db: Db, held: SQL, isFinal: SQL) {
  const lag = sql`coalesce(${field('lag')}, 0)`
  return insertFrom(
    db,
    minutes,
    {
      project_id: sql`b.project_id`,
      minute: sql`b.minute`,
      connection_id: sql`b.connection_id`,
      received: sql`sum(b.received)`,
      processed: sql`sum(b.processed)`,
      ignored: sql`sum(b.ignored)`,
      failed: sql`sum(b.failed)`,
      lag: sql`json_group_object(b.bin, b.n) FILTER (WHERE b.bin IS NOT NULL)`,
      lag_sum: sql`sum(b.lag_sum)`,
      lag_max: sql`max(b.lag_max)`,
    },
    // One row a bin of the histogram, then one a minute.
    sql`FROM (SELECT ${e.project_id} AS project_id, ${field('minute')} AS minute, ${e.connection_id} AS connection_id,
        ${field('bin')} AS bin, count(*) AS n, sum(${field('received_at')} >= ${fewerRowsFrom}) AS received, ${counted('processed')} AS processed, ${counted('ignored')} AS ignored,
        ${counted('failed')} AS failed, sum(${lag}) AS lag_sum, max(${lag}) AS lag_max
      ${held} WHERE ${e.replay_id} IS NULL AND ${isFinal} AND ${isDelivered(e.id)} GROUP BY 1, 2, 3, 4) b
    WHERE true GROUP BY 1, 2, 3
    ON CONFLICT DO UPDATE SET ${addUp(minutes.received, minutes.processed, minutes.ignored, minutes.failed, minutes.lag_sum)},
      ${bare(minutes.lag_max)} = max(${minutes.lag_max}, ${excluded(minutes.lag_max)}), ${addUpCounts(minutes.lag)}`,
  )
}

/** How many verdicts of a group have a status. */
function counted(status: (typeof FINAL_STATUSES)[number]): SQL {
  return sql`sum(${field('status')} = ${literals([status])})`
}

/** A field of the verdict `j`, of a statement's list. */
function field(name: keyof ReturnType<typeof listed> | 'stored'): SQL {
  return sql`j.value->>${literals([name])}`
}

/** The verdicts as parameters, as JSON. `brief`: without their summaries, which only the events' own rows need. */
type Lists = { whole: string; brief: string }

function listsOf({ verdicts, now }: Finish): Lists {
  const brief = verdicts.map((verdict) => listed(verdict, now))
  const whole = verdicts.map(({ summary }, i) => ({ ...brief[i], stored: summary && storedSummary(summary) }))
  return { whole: JSON.stringify(whole), brief: JSON.stringify(brief) }
}

/** A verdict as it travels in a list. */
function listed(
  { event, status, error, due_at, trigger, started_at, summary, snapshots, claims }: Verdict,
  now: number,
) {
  const receivedAt = idTime(event.id)
  const since = event.released_at ?? receivedAt
  const lag = status === 'processed' || status === 'ignored' ? Math.max(0, now - since) : null
  return {
    project_id: event.project_id,
    event_id: event.id,
    status,
    error: error?.message.slice(0, MAX_ERROR_LENGTH) ?? null,
    error_code: error?.code ?? null,
    due_at,
    trigger,
    started_at,
    refs: summary?.refs ?? [],
    claims: claims.map((claim) =>
      claimed(claim, {
        vendor: event.vendor,
        vendor_event_id: event.vendor_event_id,
        occurred_at: summary?.occurred_at ?? null,
        step: snapshots[0]?.step ?? null,
        event_id: event.id,
      }),
    ),
    is_first: event.attempts === 1 && event.replay_id === null && trigger === 'ingest' && lag !== null,
    received_at: receivedAt,
    minute: Math.floor(receivedAt / MINUTE),
    lag,
    bin: lag === null ? null : binOf(lag),
  }
}
