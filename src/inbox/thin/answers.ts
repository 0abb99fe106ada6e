import { findKnownOf } from '../../billing/read/known'
import type { StoredObjectKey } from '../../billing/store'
import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { pooled } from '../../lib/pooled'
import { processEvents } from '../process/process-events'
import { retried, type Verdict } from '../process/verdict'
import { idsOfErased } from '../refresh/erased'
import { findKeysOf } from '../refresh/keys'
import { recordFetches } from '../refresh/record'
import { type Answer, answerFor, type End } from './answer'
import { CALLS_AT_ONCE } from './limits'
import { fetchedEffect, goneEffect, grouped, type Naming } from './named'

/** How events end, and which of them were not reached. */
export type Ended = { verdicts: Verdict[]; unreached: Verdict[] }

/**
 * Asks the vendors for what events name, several objects at once, and processes what is new. The events themselves are not written.
 *
 * @param until the time (ms) by which the vendors must have answered
 */
export async function endNamings(rt: Runtime, namings: readonly Naming[], until: number): Promise<Ended> {
  if (namings.length === 0) return { verdicts: [], unreached: [] }
  const { rows, known } = await batch(rt.db, {
    rows: findKeysOf(
      rt.db,
      namings.map(({ verdict }) => verdict.event),
    ),
    known: findKnownOf(rt.db, namings.flatMap(keyOf)),
  })
  const groups = grouped(namings, rows)
  const failing = new Set<string>()
  const answers = await pooled(CALLS_AT_ONCE, groups, (group) => answerFor(rt, group, { known, until, failing }))
  const missing = await processNew(rt, answers)
  const ended: Ended = { verdicts: [], unreached: [] }
  for (const { group, ends } of answers) {
    for (const [i, naming] of group.namings.entries()) {
      const verdict = verdictOf(naming, ends[i] ?? { as: 'unreached' }, missing)
      if (verdict) ended.verdicts.push(verdict)
      else ended.unreached.push(naming.verdict)
    }
  }
  // Of a connection without a key: they end as they would anyway.
  const inGroup = new Set(groups.flatMap((group) => group.namings))
  for (const naming of namings) if (!inGroup.has(naming)) ended.verdicts.push(naming.verdict)
  return ended
}

function keyOf({ verdict: { event }, named: { call, id } }: Naming): StoredObjectKey[] {
  return call.kind === 'checkout'
    ? []
    : [{ project_id: event.project_id, kind: call.kind, vendor_id: id, vendor: event.vendor }]
}

/** Records that were not recorded. `lost`: their connections have changed. `erased`: they are about customers who were erased. */
type Missing = { lost: Set<string>; erased: Set<string> }

/** Records what is new, and processes it. @returns the ids of what was not recorded */
async function processNew(rt: Runtime, answers: readonly Answer[]): Promise<Missing> {
  const missing: Missing = { lost: new Set(), erased: new Set() }
  const keys: { project_id: string; event_id: string }[] = []
  for (const [, some] of Map.groupBy(answers, ({ group }) => group.row.key.connection_id)) {
    const { project_id } = some[0]?.group.row.key ?? { project_id: '' }
    const key = some.find((one) => one.key !== null)?.key
    const records = some.flatMap((one) => one.records)
    if (key) for (const id of await idsOfErased(rt.db, key, records)) missing.erased.add(id)
    const kept = records.filter(({ id }) => !missing.erased.has(id))
    const ids = key && kept.length > 0 ? await recordFetches(rt.db, key, kept) : []
    for (const { id } of kept) if (!ids.includes(id)) missing.lost.add(id)
    keys.push(...[...ids, ...some.flatMap(({ full }) => full)].map((event_id) => ({ project_id, event_id })))
  }
  if (keys.length > 0) {
    await processEvents(
      rt,
      keys.map((key) => ({ key })),
    )
  }
  return missing
}

/** @returns null if the event is to be handed back */
function verdictOf({ verdict, named }: Naming, end: End, { lost, erased }: Missing): Verdict | null {
  if (end.as === 'unreached' || (end.as === 'learned' && lost.has(end.from))) return null
  // Nothing of it is kept, so the event changes nothing.
  if (end.as === 'learned' && erased.has(end.from)) return verdict
  if (end.as === 'failed') return retried(verdict, end.error, end.wait)
  if (end.as === 'gone') return { ...verdict, fetched: goneEffect(named) }
  return { ...verdict, status: 'processed', fetched: fetchedEffect(named, end.from) }
}
