import { findKnownOf, type Known } from '../../billing/read/known'
import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { newId } from '../../lib/ids'
import { pooled } from '../../lib/pooled'
import { SECOND } from '../../lib/time'
import { vendorOf } from '../../vendors'
import type { ObjectsCall } from '../../vendors/calls'
import type { StateKind } from '../../vendors/kinds'
import { apart } from '../fetches/apart'
import { FAILED_WAIT_S } from '../fetches/limits'
import { askAccounts } from '../refresh/accounts'
import { ask, news } from '../refresh/ask'
import { idsOfErased } from '../refresh/erased'
import { ifOpened, type SourceKey, type SourceKeyRow } from '../refresh/keys'
import { recordAndProcess } from '../refresh/process'
import type { FetchedRecord } from '../refresh/record'
import { CALL_WITHIN_MS, CALLS_AT_ONCE, CALLS_WITHIN_MS, LEAST_FOR_A_CALL_MS } from '../thin/limits'
import { type Doubt, endDoubts, type Later, takeDoubts } from './lease'
import { DOUBTS_AT_ONCE, MORE_WAIT_S, NOT_ASKED_WAIT_MS } from './limits'
import type { DoubtMessage } from './message'
import { lacksItems } from './note'

/**
 * Asks the vendors for objects of these projects that are in doubt, a few of each. Several messages about a project count as one, so that a
 * project that has many gets no more than another one.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 */
export async function askForDoubts(rt: Runtime, messages: readonly DoubtMessage[]): Promise<(number | null)[]> {
  const until = Date.now() + CALLS_WITHIN_MS
  const waits = new Map<string, number>()
  for (const project_id of new Set(messages.map((message) => message.project_id))) {
    const hasTime = until - Date.now() >= LEAST_FOR_A_CALL_MS
    const asked = hasTime ? await apart({ project_id }, () => askForSome(rt, project_id, until)) : null
    if (asked?.failed) waits.set(project_id, FAILED_WAIT_S)
    else if (asked === null || asked.value) waits.set(project_id, MORE_WAIT_S)
  }
  return messages.map(({ project_id }) => {
    const wait = waits.get(project_id) ?? null
    waits.delete(project_id)
    return wait
  })
}

/** How asking for an object ended: what is to be recorded, or when to ask later. Neither if the vendor was asked, and had nothing new. */
type Outcome = { later?: Later; key?: SourceKey; records?: FetchedRecord[] }

type Context = { keys: readonly SourceKeyRow[]; until: number; failing: Set<string> }

/** @returns whether the project may have more that are due */
async function askForSome(rt: Runtime, projectId: string, until: number): Promise<boolean> {
  const { db } = rt
  const token = newId('lse', Date.now())
  const { doubts, keys } = await takeDoubts(db, projectId, token, Date.now())
  if (doubts.length === 0) return false
  const known = await run(db, findKnownOf(db, doubts.map(keyOf)))
  const context: Context = { keys, until, failing: new Set() }
  const outcomes = await pooled(CALLS_AT_ONCE, doubts, (doubt) => outcomeOf(rt, doubt, known, context))
  const found = outcomes.filter(({ key }) => key !== undefined)
  for (const [, some] of Map.groupBy(found, ({ key }) => key?.connection_id)) {
    const key = some[0]?.key as SourceKey
    const records = some.flatMap(({ records = [] }) => records)
    const erased = await idsOfErased(db, key, records)
    const kept = records.filter(({ id }) => !erased.has(id))
    await recordAndProcess(rt, key, kept)
  }
  const later = outcomes.flatMap(({ later }) => later ?? [])
  await endDoubts(db, projectId, token, later)
  writeLog('info', 'doubts_asked', { objects: doubts.length, not_asked: later.length })
  return doubts.length === DOUBTS_AT_ONCE
}

function keyOf({ project_id, vendor, kind, object_id }: Doubt) {
  return { project_id, vendor, kind, vendor_id: object_id }
}

async function outcomeOf(
  rt: Runtime,
  doubt: Doubt,
  all: readonly Known[],
  { keys, until, failing }: Context,
): Promise<Outcome> {
  const { project_id, vendor, kind, object_id, is_overdue } = doubt
  // Two vendors may have objects with the same id: the answer must be compared with what its own vendor said.
  const known = all.find((one) => one.kind === kind && one.id === object_id && one.vendor === vendor)
  if (!known) return {}
  const own = keys.filter((row) => row.vendor === vendor && row.key.state === 'ok')
  const call = callFor(known, is_overdue)
  // Nothing is to be asked, or nobody can be: that counts as a try, so that it ends.
  if (own.length === 0 || !call) return {}
  const now = Date.now()
  const paused = Math.min(...own.map(({ key }) => key.not_before ?? 0))
  if (paused > now) return { later: { doubt, due_at: paused } }
  if (failing.has(vendor) || until - now < LEAST_FOR_A_CALL_MS) {
    return { later: { doubt, due_at: now + NOT_ASKED_WAIT_MS } }
  }
  const of = { project_id, keys: own, sources: [known.event_id], lane: 'background' as const }
  const asked = await ifOpened(askAccounts(rt, of, (key) => ask(key, [call], until, CALL_WITHIN_MS)))
  if (!asked) return { later: { doubt, due_at: Date.now() + NOT_ASKED_WAIT_MS } }
  const { best, unknown, wait_s } = asked
  if (wait_s !== null && !best) {
    failing.add(vendor)
    return { later: { doubt, due_at: Date.now() + wait_s * SECOND } }
  }
  if (!best && !unknown) failing.add(vendor)
  if (!best) return {}
  return { key: best.key, records: await news(best.key, best.asked.objects, [known]) }
}

/** What to ask for; null if the object is no longer in doubt, or the vendor cannot be asked. */
function callFor({ vendor, kind, id, body, ...known }: Known, isOverdue: boolean): ObjectsCall | null {
  const calls = vendorOf(vendor)?.api?.calls
  if (kind === 'purchase') return lacksItems(body) ? (calls?.ofItems?.(id) ?? null) : null
  if (!calls || !(known.ambiguous || known.incomplete || isOverdue)) return null
  return calls.ofObject(kind as StateKind, id, (body?.customer as string | undefined) ?? null)
}
