import { applyAll, type Source } from '../../billing/apply'
import type { Effect } from '../../billing/effect'
import type { Db } from '../../db/client'
import { retryDelay } from '../lifecycle'
import { finish, type Verdict } from './finish'

/** Batches that meet another worker's write to the same object decide again: so many times together, then alone. */
const MAX_ROUNDS = 5

/**
 * Applies what was judged to the billing state, and finishes it, in two round trips: one that reads the rows of the
 * objects, where there are any, and one that writes all. Where the database refuses the batch, each event is settled
 * alone, so that one failure touches no other.
 *
 * @returns the verdicts as they were written
 */
export async function settle(db: Db, verdicts: readonly Verdict[], lease: string): Promise<Verdict[]> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { effects, projections } = await applyAll(db, verdicts.map(sourceOf))
    const applied = verdicts.map((verdict) => withEffects(verdict, effects.get(verdict.event.id)))
    const result = await finish(db, applied, projections, lease, Date.now())
    if (result.done) return applied
    if (!result.stale) return settleEach(db, verdicts, lease, result.refused)
  }
  return settleEach(db, verdicts, lease, 'other workers kept changing the same object')
}

async function settleEach(db: Db, verdicts: readonly Verdict[], lease: string, error: string): Promise<Verdict[]> {
  const [only] = verdicts
  if (verdicts.length === 1 && only) {
    const again = retried(only, `the database refused its effects: ${error}`)
    const result = await finish(db, [again], [], lease, Date.now())
    // Neither its effects nor its failure: the message comes again when the lease has run out.
    if (!result.done) throw new Error(`event ${only.event.id} cannot be finished: ${error}`)
    return [again]
  }
  const settled: Verdict[] = []
  for (const verdict of verdicts) settled.push(...(await settle(db, [verdict], lease)))
  return settled
}

/** The verdict of a failed attempt: another one later, or failed when the tries are used up. */
export function retried(verdict: Verdict, error: string): Verdict {
  const delay = retryDelay(verdict.event.tries, Math.random())
  const next = { ...verdict, error, summary: null, snapshots: [] }
  return delay === null
    ? { ...next, status: 'failed', due_at: null }
    : { ...next, status: 'retrying', due_at: Date.now() + delay }
}

function sourceOf({ event, snapshots }: Verdict): Source {
  const { project_id, id, vendor, vendor_event_id, earlier } = event
  const effects = earlier === null ? [] : (JSON.parse(earlier) as Effect[])
  return { project_id, event_id: id, vendor, vendor_event_id, snapshots, earlier: effects }
}

function withEffects(verdict: Verdict, effects: Effect[] | undefined): Verdict {
  return verdict.summary && effects ? { ...verdict, summary: { ...verdict.summary, effects } } : verdict
}
