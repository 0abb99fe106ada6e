import { type Db, run } from '../db/client'
import { sha256Hex } from '../lib/crypto'
import type { PartSnapshot, Snapshot, WholeSnapshot } from '../vendors/snapshot'
import { stored } from './body'
import { objectChange } from './change'
import type { Effect } from './effect'
import { forgottenEffect, forgottenState, isForgotten } from './forget'
import { MAX_ROW_BYTES_READ } from './limits'
import { mergedPastDue, pastDueIn } from './past-due'
import { moneyOf } from './purchases/money'
import { added, linkedTo, placedParts } from './purchases/place'
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
    const about = customerOf(source)
    const of = { source, rows, about, isOfErased: erased.has(customerName({ ...source, about })) }
    const effects: Effect[] = []
    for (const snapshot of source.snapshots) {
      if (snapshot.kind === 'purchase') continue
      const effect = await applyWhole(of, snapshot)
      if (!effect) return null
      effects.push(effect)
    }
    const bought = await applyParts(of)
    if (!bought) return null
    applied.effects.set(source.event_id, [...effects, ...bought])
  }
  for (const [name, row] of rows) {
    if (row.by.length === 0) continue
    const changes = toldOf(row.key, before.get(name) ?? newRow(row.key), row, row.by.at(-1))
    applied.projections.push({ ...row, changes })
  }
  return applied
}

/** What an event changed of a purchase, or of the money alone, if there is no sale. */
function partChange(before: Pick<Projection, 'candidates'>, after: ResolvedState): Effect['change'] {
  const [was, is] = [before, after].map(({ candidates }) => candidates[0]?.body ?? null)
  return was || is
    ? objectChange('purchase', was ?? null, is ?? null)
    : objectChange('purchase', moneyOf(before), moneyOf(after))
}

/** An event that is applied to rows. `about`: the customer it is about. */
type Applying = { source: EffectSource; rows: Map<string, Projection>; about: string | null; isOfErased: boolean }

async function applyWhole(of: Applying, snapshot: WholeSnapshot): Promise<Effect | null> {
  const { source, rows, isOfErased } = of
  const key = keyOf(source, snapshot)
  const read = rows.get(objectName(key)) ?? newRow(key)
  const forgets = isOfErased || isForgotten(read.candidates)
  const row = forgets ? forgotten(read) : read
  const made = await candidateOf(source, snapshot)
  const candidate = forgets ? forgottenState(made) : made
  const next = mergedState(row.candidates, candidate)
  const past_due = mergedPastDue(row.past_due, pastDueIn(snapshot))
  if (!settle(of, { read, next, past_due, forgets })) return null
  return recorded(of, { row, next, forgets }, effectOf(snapshot, candidate, row.candidates[0], next))
}

/** Applies the parts of purchases that an event describes. A payment that paid an invoice has its parts in the purchase of that invoice. */
async function applyParts(of: Applying): Promise<Effect[] | null> {
  const { source, rows, isOfErased } = of
  const parts = source.snapshots.filter((one): one is PartSnapshot => one.kind === 'purchase')
  const effects: Effect[] = []
  for (const [, own] of Map.groupBy(parts, ({ id }) => id)) {
    const made: Candidate[] = []
    for (const one of own) made.push(await candidateOf(source, one))
    const [first] = own as [PartSnapshot, ...PartSnapshot[]]
    const key = keyOf(source, first)
    const rowOf = (id: string) => {
      const at = { ...key, vendor_id: id }
      return rows.get(objectName(at)) ?? newRow(at)
    }
    const payment = rowOf(first.id)
    const home = linkedTo(payment.candidates, made)
    const reads = home === null ? [payment] : [payment, rowOf(home)]
    const forgets = isOfErased || reads.some(({ candidates }) => isForgotten(candidates))
    const kept = forgets ? made.map(forgottenState) : made
    const before = forgets ? reads.map(forgotten) : reads
    const after = placedParts(before, kept)
    for (const [i, next] of after.entries()) {
      const [read, row] = [reads[i] as Projection, before[i] as Projection]
      if (!settle(of, { read, next, past_due: null, forgets })) return null
      const result = added(row, next, kept, { isHome: i === 1, isLinked: home !== null })
      if (result === null) continue
      const [whole] = next.candidates
      const effect: Effect = {
        kind: 'purchase',
        id: read.key.vendor_id,
        result,
        change: result === 'superseded' ? null : partChange(row, next),
        ...(whole?.incomplete && { incomplete: whole.incomplete }),
      }
      effects.push(recorded(of, { row, next, forgets }, effect))
    }
  }
  return effects
}

type Settled = { read: Projection; next: ResolvedState; past_due: Projection['past_due']; forgets: boolean }

/** Puts a row as it is after an event. @returns false if it is about another customer than the event before it */
function settle({ source, rows, about }: Applying, { read, next, past_due, forgets }: Settled): boolean {
  if (!differs(next.candidates, read.candidates) && past_due === read.past_due) return true
  // Whether a customer was erased is checked for one customer of each row. Most events of refunds and disputes name none.
  if (read.about !== null && about !== null && read.about !== about) return false
  const by = [...read.by, source.event_id]
  rows.set(objectName(read.key), { ...read, ...next, past_due, by, about: forgets ? null : (about ?? read.about) })
  return true
}

/** What is recorded of an event for an object. What it did before stays recorded where processing it again changes nothing. */
function recorded(
  { source }: Applying,
  { row, next, forgets }: { row: Projection; next: ResolvedState; forgets: boolean },
  effect: Effect,
): Effect {
  const earlier = source.earlier.find(({ kind, id }) => kind === effect.kind && id === effect.id)
  const known = earlier && forgets ? forgottenEffect(earlier) : earlier
  if (!known) return effect
  if (!differs(next.candidates, row.candidates)) return known
  // The same event already determined this state, which now has new fields: its recorded change stays.
  return row.candidates[0]?.event_id === source.event_id ? { ...effect, change: known.change } : effect
}

function forgotten(row: Projection): Projection {
  return { ...row, candidates: row.candidates.map(forgottenState) }
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
    changes: [],
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
  return source.snapshots.flatMap((snapshot) => {
    const key = { ...keyOf(source, snapshot), about }
    const { body } = snapshot
    return snapshot.kind === 'purchase' && body.status === 'link' ? [key, { ...key, vendor_id: body.to }] : [key]
  })
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
    ...(snapshot.kind === 'purchase' && { part: snapshot.part }),
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
