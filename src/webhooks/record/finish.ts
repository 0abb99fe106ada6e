import { sql } from 'drizzle-orm'
import { ConstraintError, type Db } from '../../db/client'
import { attempts, events, minutes, refs, replays, totals } from '../../db/schema'
import { idTime } from '../../lib/ids'
import { FINAL_STATUSES, type Status } from '../../lib/statuses'
import { MINUTE } from '../../lib/time'
import { binOf } from '../histogram'
import type { DecodedSummary } from '../process'
import type { Claimed } from './claim'

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
}

/**
 * Writes the verdicts of a batch: set-based statements, one transaction, each fenced by the lease, so that a worker
 * whose lease ran out writes nothing. Where a constraint refuses the batch, each event is finished alone, so that one
 * failure touches no other.
 *
 * @returns the ids that were finished
 */
export async function finish(
  db: Db,
  verdicts: readonly Verdict[],
  lease: string,
  now: number,
): Promise<{ finished: string[]; refused: { verdict: Verdict; error: string }[] }> {
  if (verdicts.length === 0) return { finished: [], refused: [] }
  try {
    const results = await db.batch(finishStatements(verdicts, lease, now))
    return { finished: (results.at(-1)?.rows ?? []).map((row) => (row as { id: string }).id), refused: [] }
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error
    const [only] = verdicts
    if (verdicts.length === 1 && only) return { finished: [], refused: [{ verdict: only, error: error.message }] }
    const alone = []
    for (const verdict of verdicts) alone.push(await finish(db, [verdict], lease, now))
    return { finished: alone.flatMap((one) => one.finished), refused: alone.flatMap((one) => one.refused) }
  }
}

function finishStatements(verdicts: readonly Verdict[], lease: string, now: number) {
  const list = JSON.stringify(verdicts.map((verdict) => verdictJson(verdict, now)))
  const fenced = sql`FROM json_each(${list}) j
    CROSS JOIN ${events} e ON e.project_id = j.value->>'p' AND e.id = j.value->>'e' AND e.lease_token = ${lease}`
  return [
    sql`INSERT INTO ${refs} (project_id, ref, event_id)
      SELECT e.project_id, r.value, e.id ${fenced} CROSS JOIN json_each(j.value, '$.refs') r WHERE true ON CONFLICT DO NOTHING`,
    sql`INSERT INTO ${attempts} (event_id, number, trigger, actor, started_at, finished_at, outcome, error)
      SELECT e.id, e.attempts, j.value->>'trigger',
        CASE WHEN j.value->>'trigger' = 'replay' THEN
          (SELECT r.actor FROM ${replays} r WHERE r.project_id = e.project_id AND r.id = e.replay_id) END,
        j.value->>'started', CAST(${now} AS INTEGER), j.value->>'s', j.value->>'err' ${fenced} WHERE true ON CONFLICT DO NOTHING`,
    // The lag series is of first completions: an event that was ever replayed has had its own.
    sql`INSERT INTO ${minutes} (project_id, minute, connection_id, processed, ignored, failed, lag, lag_sum, lag_max)
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
          (SELECT key, value FROM json_each(minutes.lag) UNION ALL SELECT key, value FROM json_each(excluded.lag)) GROUP BY key))`,
    sql`INSERT INTO ${totals} (project_id, status, n)
      SELECT e.project_id, j.value->>'s', count(*) ${fenced} WHERE j.value->>'s' IN (${finalList}) GROUP BY 1, 2
      ON CONFLICT DO UPDATE SET n = n + excluded.n`,
    sql<{
      id: string
    }>`UPDATE ${events} SET status = v.s, due_at = v.due, next_attempt_at = v.due, lease_token = NULL, lease_until = NULL,
        last_error = v.err, summary = coalesce(v.summary, events.summary),
        processed_at = coalesce(processed_at, CASE WHEN v.due IS NULL AND v.err IS NULL THEN ${now} END)
      FROM (SELECT value->>'p' AS p, value->>'e' AS e, value->>'s' AS s, value->>'due' AS due, value->>'err' AS err,
        value->>'summary' AS summary FROM json_each(${list})) v
      WHERE events.project_id = v.p AND events.id = v.e AND events.lease_token = ${lease}
      RETURNING id`,
  ]
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
