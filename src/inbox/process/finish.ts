import { type SQL, sql } from 'drizzle-orm'
import { isStale, type Projection, writeObjects } from '../../billing/store'
import { batch, ConstraintError, type Db, type Queries } from '../../db/client'
import { old } from '../../db/old'
import { idTime } from '../../lib/ids'
import { MINUTE } from '../../lib/time'
import type { Snapshot } from '../../vendors/snapshot'
import { binOf } from '../histogram'
import { FINAL_STATUSES, type Status } from '../lifecycle'
import { attempts, events, minutes, refs, replays, totals } from '../schema'
import type { Claimed } from './claim'
import type { DecodedSummary } from './decide'

const finalList = sql.raw(FINAL_STATUSES.map((status) => `'${status}'`).join(','))

/** The verdict on one claimed event. */
export type Verdict = {
  event: Claimed
  status: Status
  error: string | null
  /** When it is to be tried again (ms); null exactly when the status is final. */
  due_at: number | null
  trigger: 'ingest' | 'retry' | 'sweep' | 'replay'
  started_at: number
  summary: DecodedSummary | null
  snapshots: readonly Snapshot[]
}

/** `stale`: an object's row had moved since it was read. `refused`: a constraint's words. Then nothing was written. */
export type Finished = { done: true } | { done: false; stale: true } | { done: false; stale: false; refused: string }

/**
 * Writes the verdicts of a batch with what they do to billing objects: set-based statements, one transaction, each
 * fenced by the lease, so that a worker whose lease ran out writes nothing.
 */
export async function finish(
  db: Db,
  verdicts: readonly Verdict[],
  projections: readonly Projection[],
  lease: string,
  now: number,
): Promise<Finished> {
  try {
    await batch(db, finishStatements(db, verdicts, projections, lease, now))
    return { done: true }
  } catch (error) {
    if (isStale(error)) return { done: false, stale: true }
    if (error instanceof ConstraintError) return { done: false, stale: false, refused: error.message }
    throw error
  }
}

function finishStatements(
  db: Db,
  verdicts: readonly Verdict[],
  projections: readonly Projection[],
  lease: string,
  now: number,
): Queries {
  const list = JSON.stringify(verdicts.map((verdict) => verdictJson(verdict, now)))
  const fenced = sql`FROM json_each(${list}) j
    CROSS JOIN ${events} e ON e.project_id = j.value->>'p' AND e.id = j.value->>'e' AND e.lease_token = ${lease}`
  const held = (projectId: SQL, eventIds: SQL) => sql`EXISTS (SELECT 1 FROM json_each(${eventIds}) held
    CROSS JOIN ${events} e ON e.project_id = ${projectId} AND e.id = held.value AND e.lease_token = ${lease})`
  const plain = (statement: SQL) => old(db).query(statement)
  return {
    ...writeObjects(db, projections, held),
    refs: plain(sql`INSERT INTO ${refs} (project_id, ref, event_id)
      SELECT e.project_id, r.value, e.id ${fenced} CROSS JOIN json_each(j.value, '$.refs') r WHERE true ON CONFLICT DO NOTHING`),
    attempts:
      plain(sql`INSERT INTO ${attempts} (event_id, number, trigger, actor, started_at, finished_at, outcome, error)
      SELECT e.id, e.attempts, j.value->>'trigger',
        CASE WHEN j.value->>'trigger' = 'replay' THEN
          (SELECT r.actor FROM ${replays} r WHERE r.project_id = e.project_id AND r.id = e.replay_id) END,
        j.value->>'started', CAST(${now} AS INTEGER), j.value->>'s', j.value->>'err' ${fenced} WHERE true ON CONFLICT DO NOTHING`),
    // The lag series is of first completions: an event that was ever replayed has had its own.
    minutes:
      plain(sql`INSERT INTO ${minutes} (project_id, minute, connection_id, processed, ignored, failed, lag, lag_sum, lag_max)
      SELECT project_id, minute, connection_id, sum(processed), sum(ignored), sum(failed),
        json_group_object(bin, n) FILTER (WHERE bin IS NOT NULL), sum(lag), max(lag_max) FROM (
          SELECT e.project_id, j.value->>'minute' AS minute, e.connection_id, j.value->>'bin' AS bin, count(*) AS n,
            sum(j.value->>'s' = 'processed') AS processed, sum(j.value->>'s' = 'ignored') AS ignored,
            sum(j.value->>'s' = 'failed') AS failed, sum(coalesce(j.value->>'lag', 0)) AS lag,
            max(coalesce(j.value->>'lag', 0)) AS lag_max
          ${fenced} WHERE e.replay_id IS NULL AND j.value->>'s' IN (${finalList}) GROUP BY 1, 2, 3, 4)
      GROUP BY 1, 2, 3
      ON CONFLICT DO UPDATE SET processed = processed + excluded.processed, ignored = ignored + excluded.ignored,
        failed = failed + excluded.failed, lag_sum = lag_sum + excluded.lag_sum, lag_max = max(lag_max, excluded.lag_max),
        lag = (SELECT json_group_object(k, v) FROM (SELECT key AS k, sum(value) AS v FROM
          (SELECT key, value FROM json_each(minutes.lag) UNION ALL SELECT key, value FROM json_each(excluded.lag)) GROUP BY key))`),
    totals: plain(sql`INSERT INTO ${totals} (project_id, status, n)
      SELECT e.project_id, j.value->>'s', count(*) ${fenced} WHERE j.value->>'s' IN (${finalList}) GROUP BY 1, 2
      ON CONFLICT DO UPDATE SET n = n + excluded.n`),
    events:
      plain(sql`UPDATE ${events} SET status = v.s, due_at = v.due, next_attempt_at = v.due, lease_token = NULL, lease_until = NULL,
        last_error = v.err, summary = coalesce(v.summary, events.summary),
        processed_at = coalesce(processed_at, CASE WHEN v.due IS NULL AND v.err IS NULL THEN ${now} END)
      FROM (SELECT value->>'p' AS p, value->>'e' AS e, value->>'s' AS s, value->>'due' AS due, value->>'err' AS err,
        value->>'summary' AS summary FROM json_each(${list})) v
      WHERE events.project_id = v.p AND events.id = v.e AND events.lease_token = ${lease}`),
  }
}

function verdictJson(verdict: Verdict, now: number) {
  const { event, status, error, due_at, trigger, started_at, summary } = verdict
  const receivedAt = idTime(event.id)
  const lag = status === 'processed' || status === 'ignored' ? Math.max(0, now - receivedAt) : null
  return {
    p: event.project_id,
    e: event.id,
    s: status,
    err: error?.slice(0, 1000) ?? null,
    due: due_at,
    trigger,
    started: started_at,
    summary: summary && JSON.stringify(summary),
    refs: summary?.refs ?? [],
    minute: Math.floor(receivedAt / MINUTE),
    lag,
    bin: lag === null ? null : binOf(lag),
  }
}
