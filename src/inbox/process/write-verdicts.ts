import { applyAll, type EffectSource } from '../../billing/apply'
import type { Effect } from '../../billing/effect'
import { effectOf } from '../../consumers/claims'
import { isErased } from '../../consumers/links'
import type { Runtime } from '../../env'
import { sendWoken } from '../../followers/wake'
import { type EventError, fail } from '../../vendors/event-errors'
import { finish } from './finish'
import { MAX_ROUNDS } from './limits'
import { retried, type Verdict } from './verdict'

/**
 * Applies verdicts to the billing state and writes them, in two round trips: one that reads the rows of the billing
 * objects, if there are any, and one that writes everything. If that is too much for one transaction, or the database
 * refuses it, each half is written by itself, and so on, so that one failure affects no other event. Who follows the
 * changes is sent a message.
 *
 * @returns the verdicts as they were written
 * @throws where one can neither be written nor be recorded as a failed attempt: another worker takes its event over
 *   when the lease has expired
 */
export async function writeVerdicts(rt: Runtime, verdicts: readonly Verdict[], lease: string): Promise<Verdict[]> {
  const together = await write(rt, verdicts, lease)
  if ('written' in together) return together.written
  const [first, ...others] = verdicts
  if (first && others.length === 0) return [await writeFailure(rt, first, together.refused, lease)]
  const half = Math.ceil(verdicts.length / 2)
  const before = await writeVerdicts(rt, verdicts.slice(0, half), lease)
  return [...before, ...(await writeVerdicts(rt, verdicts.slice(half), lease))]
}

/** Applies and writes verdicts as one, in several rounds where another worker keeps changing the same objects. */
async function write(
  rt: Runtime,
  verdicts: readonly Verdict[],
  lease: string,
): Promise<{ written: Verdict[] } | { refused: EventError }> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await applyAll(rt.db, verdicts.map(sourceOf), isErased)
    if (!result) return { refused: fail('object_too_large', 'its billing objects are too large') }
    const applied = verdicts.map((verdict) => withEffects(verdict, result.effects.get(verdict.event.id)))
    const what = { verdicts: applied, projections: result.projections, lease, now: Date.now() }
    const finished = await finish(rt.db, what)
    if (finished === 'stale') continue
    if ('refused' in finished) return finished
    rt.waitUntil(sendWoken(rt, finished.woken))
    return { written: applied.map((one) => ({ ...one, noted: finished.noted.has(one.event.project_id) })) }
  }
  return { refused: fail('object_busy', 'other workers kept changing the same object') }
}

/** Writes a verdict that the database refused as a failed attempt, without effects. */
async function writeFailure(rt: Runtime, verdict: Verdict, refused: EventError, lease: string): Promise<Verdict> {
  const failure = retried(verdict, fail(refused.code, `the database rejected its effects: ${refused.message}`))
  const finished = await finish(rt.db, { verdicts: [failure], projections: [], lease, now: Date.now() })
  if (finished === 'stale' || 'refused' in finished)
    throw new Error(`event ${verdict.event.id} cannot be finished: ${refused.message}`)
  rt.waitUntil(sendWoken(rt, finished.woken))
  return failure
}

function sourceOf({ event, summary, snapshots }: Verdict): EffectSource {
  const { project_id, id, vendor, vendor_event_id, earlier } = event
  const customer = summary?.customer ?? null
  return { project_id, event_id: id, vendor, vendor_event_id, customer, snapshots, earlier: earlier ?? [] }
}

/** A verdict with what its event did. */
function withEffects(verdict: Verdict, onObjects: readonly Effect[] = []): Verdict {
  const effects = [...onObjects, ...verdict.claims.map(effectOf), ...(verdict.fetched ? [verdict.fetched] : [])]
  const { summary } = verdict
  if (!summary) return verdict
  // A refund names the payment, and not the invoice whose purchase it changes.
  const refs = [...new Set([...summary.refs, ...effects.filter(({ kind }) => kind === 'purchase').map(({ id }) => id)])]
  return { ...verdict, summary: { ...summary, refs, effects } }
}
