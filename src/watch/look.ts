import type { StoredCause } from '../changes/schema'
import { batch, type Db, type Results } from '../db/client'
import { factsIn, lacking, readWhole, unlessTooMuch } from '../entitlements/holders'
import { type Extent, factsOf } from '../entitlements/read'
import { utf8 } from '../lib/crypto'
import { concerned, concernsAll } from './concerns'
import { MAX_CAUSES, MAX_STEP_WRITTEN } from './limits'
import { causeOf, type Plan, type ReadChange } from './plan'
import { changesBehind, changesIn, type StateRow, statesOf } from './read'
import { type Allowed, allowedTo, differences, nextTurn } from './state'
import { unmet } from './walk'

/** What becomes of the state of a consumer. `told`: what the feed is told; null for nothing. */
export type Outcome = {
  consumer_id: string
  features: Record<string, unknown>
  due_at: number | null
  /** Whether its row is written anew, is deleted, or stays as it is. */
  row: 'put' | 'gone' | 'same'
  told: { features: ReturnType<typeof differences>; causes: StoredCause[] } | null
}

/** What a step has seen of its consumers. `skipped`: those who have too much for one call. */
export type Seen = { outcomes: Outcome[]; skipped: string[] }

/**
 * Looks at the consumers of a plan: what they are allowed now, and what was told of it. Their facts, their states and the feed behind the
 * plan's changes come from one snapshot, so that the cause of a difference is among the changes before the plan's end or behind it.
 *
 * @returns null if that is too much for one step
 */
export async function lookAt(db: Db, projectId: string, plan: Plan): Promise<Seen | null> {
  const ids = [...plan.consumers.keys()]
  if (ids.length === 0) return { outcomes: [], skipped: [] }
  const seen = await lookAtSome(db, projectId, { plan, ids })
  if (seen || ids.length > FEWEST) return seen
  // A change can concern two, so a plan can have two at least.
  const each: Seen = { outcomes: [], skipped: [] }
  for (const id of ids) {
    const one = await lookAtSome(db, projectId, { plan, ids: [id] })
    if (one) each.outcomes.push(...one.outcomes)
    else each.skipped.push(id)
  }
  return each
}

/** The consumers that a plan may have at least. */
const FEWEST = 2

async function lookAtSome(db: Db, projectId: string, of: { plan: Plan; ids: readonly string[] }): Promise<Seen | null> {
  const { plan, ids } = of
  const refs = ids.map((id) => ({ id }))
  const read = (extent: Extent) =>
    batch(db, {
      ...factsOf(db, projectId, refs, { keys: null, ...extent }),
      states: statesOf(db, projectId, ids),
      tail: changesBehind(db, projectId, plan.position),
    })
  const some = await read({})
  const isMuch = ids.length > 1 && (lacking(some)?.bytes ?? 0) > MAX_STEP_WRITTEN
  if (isMuch || !unlessTooMuch(() => factsIn(some, ids.length))) return null
  const found = await readWhole(some, read)
  return unlessTooMuch(() => outcomesOf(found, of))
}

type Found = Results<
  ReturnType<typeof factsOf> & { states: ReturnType<typeof statesOf>; tail: ReturnType<typeof changesBehind> }
>

/** @throws {Fault} `payload_too_large` */
function outcomesOf(found: Found, { plan, ids }: { plan: Plan; ids: readonly string[] }): Seen | null {
  const { now, catalog, holders } = factsIn(found, ids.length)
  const tail = changesIn(found.tail, plan.position)
  const known = new Map(found.states.map((row) => [row.consumer_id, row]))
  const outcomes: Outcome[] = []
  let bytes = 0
  for (const [place, id] of ids.entries()) {
    const holder = holders[place]
    if (!holder) continue
    const allowed = allowedTo(holder, catalog, now)
    const row = known.get(id)
    const features = differences(row?.features ?? {}, allowed)
    const causes = features.length > 0 ? causesOf(id, { plan, tail, row, allowed, now }) : []
    const outcome = outcomeOf(id, { row, allowed, now, told: features.length > 0 ? { features, causes } : null })
    if (outcome.row !== 'same') bytes += utf8(JSON.stringify(outcome)).byteLength
    if (bytes > MAX_STEP_WRITTEN && ids.length > 1) return null
    outcomes.push(outcome)
  }
  return { outcomes, skipped: [] }
}

type Of = { row: StateRow | undefined; allowed: Allowed; now: number }

function outcomeOf(consumer_id: string, { row, allowed, now, told }: Of & Pick<Outcome, 'told'>): Outcome {
  const due_at = nextTurn(allowed, now)
  const isKept = allowed.mayGain || Object.keys(allowed.features).length > 0
  const isSame = row && told === null && row.due_at === due_at && row.skipped_at === null
  const become = isSame ? 'same' : 'put'
  return { consumer_id, features: allowed.features, due_at, row: isKept ? become : row ? 'gone' : 'same', told }
}

/** What may have changed what a consumer is allowed, the last {@link MAX_CAUSES}. */
function causesOf(id: string, { plan, tail, row, allowed, now }: Of & { plan: Plan; tail: readonly ReadChange[] }) {
  // The facts may be newer than the page.
  const behind = tail.filter((change) => concernsAll(change) || concerned(change).includes(id))
  const walked = unmet(plan.before, id)
  const changes = [...(plan.consumers.get(id) ?? []), ...walked, ...behind]
  const sorted = changes.sort((a, b) => (a.number ?? 0) - (b.number ?? 0)).map(causeOf)
  const since = Math.min(...changes.map(({ at }) => at))
  const isTime =
    plan.due.has(id) ||
    (row && row.due_at !== null && row.due_at <= now) ||
    // A time that a change has brought may be over before the change is read.
    allowed.turns.some((turn) => turn > since && turn <= now)
  return [...sorted.slice(-MAX_CAUSES), ...(isTime ? [{ type: 'time' }] : [])]
}
