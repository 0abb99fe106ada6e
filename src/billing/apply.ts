import { type Db, run } from '../db/client'
import { sha256Hex } from '../lib/crypto'
import type { Snapshot } from '../vendors/snapshot'
import { stored } from './body'
import { objectChange } from './change'
import type { Effect } from './effect'
import { forgottenEffect, forgottenState, isForgotten } from './forget'
import { MAX_ROW_BYTES_READ } from './limits'
import { mergedPastDue, pastDueIn } from './past-due'
import { type Candidate, eventRank, mergedState, nanoseconds, type ResolvedState } from './reduce'
import {
  customerName,
  type IsErased,
  objectName,
  type Projection,
  projectionsOf,
  type StoredObjectKey,
  selectObjects,
  type WantedObject,
} from './store'
import { toldOf } from './tell'

/** A recorded event, and the objects it describes. */
export type EffectSource = {
  project_id: string
  event_id: string
  vendor: string
  vendor_event_id: string
  /** The vendor's id of the customer that it names. */
  customer: string | null
  snapshots: readonly Snapshot[]
  /** What it did when it was processed before. That stays recorded where processing it again changes nothing. */
  earlier: readonly Effect[]
}

/** What each event does, by its id, and the rows to write. Nothing is written yet. */
export type Applied = { effects: Map<string, Effect[]>; projections: Projection[] }

/**
 * Applies events to the rows of their objects, one after the other. Reads the rows in one round trip; in none if no
 * event describes an object. Rows that stay as they are have no projection.
 *
 * Of a customer that was erased, nothing is kept that is about a person.
 *
 * @returns null if several events are too much at once: their rows are too large, or one object has customers who differ. Apply fewer.
 */
export async function applyAll(db: Db, sources: readonly EffectSource[], isErased: IsErased): Promise<Applied | null> {
  const describing = sources.filter(({ snapshots }) => snapshots.length > 0)
  const applied: Applied = { effects: new Map(), projections: [] }
  if (describing.length === 0) return applied
  const most = sources.length > 1 ? MAX_ROW_BYTES_READ : Number.MAX_SAFE_INTEGER
  const found = projectionsOf(await run(db, selectObjects(db, describing.flatMap(wantedBy), most, isErased)))
  if (!found) return null
  const { rows, erased } = found
  const before = new Map(rows)
  for (const source of describing) {
    const effects: Effect[] = []
    const about = customerOf(source)
    const isOfErased = erased.has(customerName({ ...source, about }))
    for (const snapshot of source.snapshots) {
      const key = keyOf(source, snapshot)
      const name = objectName(key)
      const read = rows.get(name) ?? newRow(key)
      const forgets = isOfErased || isForgotten(read.candidates)
      const row = forgets ? { ...read, candidates: read.candidates.map(forgottenState) } : read
      const made = await candidateOf(source, snapshot)
      const candidate = forgets ? forgottenState(made) : made
      const next = mergedState(row.candidates, candidate)
      const past_due = mergedPastDue(row.past_due, pastDueIn(snapshot))
      if (differs(next.candidates, read.candidates) || past_due !== read.past_due) {
        // Whether a customer was erased is checked for one customer of each row.
        if (row.about !== null && row.about !== about) return null
        rows.set(name, { ...row, ...next, past_due, by: [...row.by, source.event_id], about: forgets ? null : about })
      }
      const changed = differs(next.candidates, row.candidates)
      const earlier = source.earlier.find(({ kind, id }) => kind === snapshot.kind && id === snapshot.id)
      const known = earlier && forgets ? forgottenEffect(earlier) : earlier
      const effect = effectOf(snapshot, candidate, row.candidates[0], next)
      if (known && !changed) effects.push(known)
      // The same event already determined this state, which now has new fields: its recorded change stays.
      else if (known && row.candidates[0]?.event_id === source.event_id)
        effects.push({ ...effect, change: known.change })
      else effects.push(effect)
    }
    applied.effects.set(source.event_id, effects)
  }
  for (const [name, row] of rows) {
    if (row.by.length === 0) continue
    const change = toldOf(row.key, before.get(name) ?? newRow(row.key), row, row.by.at(-1))
    applied.projections.push({ ...row, change })
  }
  return applied
}

function newRow(key: StoredObjectKey): Projection {
  return {
    key,
    version: 0,
    customer: undefined,
    candidates: [],
    ambiguous: false,
    past_due: null,
    by: [],
    change: null,
    about: null,
  }
}

function differs(some: readonly Candidate[], others: readonly Candidate[]): boolean {
  return JSON.stringify(some) !== JSON.stringify(others)
}

/** The customer that an event is about: the one that it names, or that its object names. */
function customerOf({ customer, snapshots }: EffectSource): string | null {
  const named = snapshots.map(({ kind, id, body }) => (kind === 'customer' ? id : body.customer))
  return customer ?? named.find((one) => one !== null) ?? null
}

function wantedBy(source: EffectSource): WantedObject[] {
  const about = customerOf(source)
  return source.snapshots.map((snapshot) => ({ ...keyOf(source, snapshot), about }))
}

function keyOf({ project_id, vendor }: EffectSource, { kind, id }: Snapshot): StoredObjectKey {
  return { project_id, kind, vendor_id: id, vendor }
}

/** What a row would keep of an event or a fetch. */
export async function candidateOf(
  { vendor_event_id, event_id }: Pick<EffectSource, 'vendor_event_id' | 'event_id'>,
  snapshot: Snapshot,
): Promise<Candidate> {
  const { before, after, body, incomplete, reports, read } = snapshot
  return {
    rank: eventRank(snapshot),
    vendor_event_id,
    event_id,
    before: before === null ? null : await digest(before),
    after: await digest(after),
    body: stored(body),
    ...(incomplete && { incomplete }),
    ...(reports && { reports }),
    ...(read && { until: nanoseconds(read.until) }),
  }
}

/** 128 bits tell two states apart. The states themselves would make each row kilobytes long. */
async function digest(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, 32)
}

/** @param before the winner until then */
function effectOf(
  { kind, id }: Snapshot,
  candidate: Candidate,
  before: Candidate | undefined,
  { candidates, ambiguous }: ResolvedState,
): Effect {
  const incomplete = candidate.incomplete && { incomplete: candidate.incomplete }
  const wins = candidates[0]?.vendor_event_id === candidate.vendor_event_id && candidates[0].after === candidate.after
  if (!wins) return { kind, id, result: 'superseded', change: null, ...incomplete }
  const change = objectChange(kind, before?.body ?? null, candidate.body)
  return { kind, id, result: ambiguous ? 'ambiguous' : 'applied', change, ...incomplete }
}
