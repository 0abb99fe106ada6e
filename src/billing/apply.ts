import { batch, type Db } from '../db/client'
import { sha256Hex } from '../lib/crypto'
import type { Snapshot } from '../vendors/snapshot'
import { stored } from './body'
import { changeOf } from './change'
import type { Effect } from './effect'
import { forgotten, forgottenEffect, isForgotten } from './forget'
import { MAX_ROW_BYTES_READ } from './limits'
import { type Candidate, merge, type Resolved, rankOf } from './reduce'
import {
  type CustomerOf,
  type FindErased,
  nameOf,
  type ObjectKey,
  type Projection,
  projectionsOf,
  selectObjects,
} from './store'

/** A recorded event, and the objects it describes. */
export type Source = {
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
 * @returns null if the rows of several events are too large to be held at once: apply fewer
 */
export async function applyAll(db: Db, sources: readonly Source[], findErased: FindErased): Promise<Applied | null> {
  const describing = sources.filter(({ snapshots }) => snapshots.length > 0)
  const applied: Applied = { effects: new Map(), projections: [] }
  if (describing.length === 0) return applied
  const most = sources.length > 1 ? MAX_ROW_BYTES_READ : Number.MAX_SAFE_INTEGER
  const read = await batch(db, {
    rows: selectObjects(db, describing.flatMap(keysOf), most),
    erased: findErased(describing.flatMap(customersOf)),
  })
  const rows = projectionsOf(read.rows)
  if (!rows) return null
  const erased = new Set(read.erased.map(customerName))
  for (const source of describing) {
    const effects: Effect[] = []
    const customers = customersOf(source)
    const isOfErased = customers.some((one) => erased.has(customerName(one)))
    for (const snapshot of source.snapshots) {
      const key = keyOf(source, snapshot)
      const name = nameOf(key)
      const found = rows.get(name) ?? newRow(key)
      const forgets = isOfErased || isForgotten(found.candidates)
      const row = forgets ? { ...found, candidates: found.candidates.map(forgotten) } : found
      const made = await candidateOf(source, snapshot)
      const candidate = forgets ? forgotten(made) : made
      const next = merge(row.candidates, candidate)
      const about = forgets ? row.about : [...row.about, ...customers.map(({ customer }) => customer)]
      if (differs(next.candidates, found.candidates))
        rows.set(name, { ...row, ...next, about, by: [...row.by, source.event_id] })
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
  applied.projections = [...rows.values()].filter(({ by }) => by.length > 0)
  return applied
}

function newRow(key: ObjectKey): Projection {
  return { key, version: 0, customer: undefined, candidates: [], ambiguous: false, by: [], about: [] }
}

function differs(some: readonly Candidate[], others: readonly Candidate[]): boolean {
  return JSON.stringify(some) !== JSON.stringify(others)
}

/** The customers that an event names: itself, or in its objects. */
function customersOf({ project_id, vendor, customer, snapshots }: Source): CustomerOf[] {
  const named = [customer, ...snapshots.map(({ kind, id, body }) => (kind === 'customer' ? id : body.customer))]
  const distinct = new Set(named.filter((one) => one !== null))
  return [...distinct].map((one) => ({ project_id, vendor, customer: one }))
}

function customerName({ project_id, vendor, customer }: CustomerOf): string {
  return [project_id, vendor, customer].join(' ')
}

function keysOf(source: Source): ObjectKey[] {
  return source.snapshots.map((snapshot) => keyOf(source, snapshot))
}

function keyOf({ project_id, vendor }: Source, { kind, id }: Snapshot): ObjectKey {
  return { project_id, kind, vendor_id: id, vendor }
}

async function candidateOf({ vendor_event_id, event_id }: Source, snapshot: Snapshot): Promise<Candidate> {
  const { before, after, body, incomplete, reports } = snapshot
  return {
    rank: rankOf(snapshot),
    vendor_event_id,
    event_id,
    before: before === null ? null : await digest(before),
    after: await digest(after),
    body: stored(body),
    ...(incomplete && { incomplete }),
    ...(reports && { reports }),
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
  { candidates, ambiguous }: Resolved,
): Effect {
  const incomplete = candidate.incomplete && { incomplete: candidate.incomplete }
  const wins = candidates[0]?.vendor_event_id === candidate.vendor_event_id && candidates[0].after === candidate.after
  if (!wins) return { kind, id, result: 'superseded', change: null, ...incomplete }
  const change = changeOf(kind, before?.body ?? null, candidate.body)
  return { kind, id, result: ambiguous ? 'ambiguous' : 'applied', change, ...incomplete }
}
