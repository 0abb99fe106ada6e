import type { Db } from '../db/client'
import type { Kind } from '../lib/billing-kinds'
import { sha256Hex } from '../lib/crypto'
import type { PaymentCardBody } from '../vendors/objects'
import type { Snapshot } from '../vendors/snapshot'
import type { Effect } from './effect'
import { cardOf } from './read/present'
import { type Candidate, merge, rankOf } from './reduce'
import { nameOf, type ObjectKey, type Projection, readObjects } from './store'

/** A recorded event with what it says of objects. */
export type Source = {
  project_id: string
  event_id: string
  vendor: string
  vendor_event_id: string
  snapshots: readonly Snapshot[]
  /** What it did when it was processed before: that stands where processing it again changes nothing. */
  earlier: readonly Effect[]
}

/** Rows to write with the events that change them, and what each event did. Nothing is written yet. */
export type Applied = { effects: Map<string, Effect[]>; projections: Projection[] }

/**
 * Applies events to the rows of their objects, one after the other, in one round trip; none where they say nothing.
 * Rows that stay as they are, are not among the projections.
 */
export async function applyAll(db: Db, sources: readonly Source[]): Promise<Applied> {
  const speaking = sources.filter(({ snapshots }) => snapshots.length > 0)
  const applied: Applied = { effects: new Map(), projections: [] }
  if (speaking.length === 0) return applied
  const rows = await readObjects(db, speaking.flatMap(keysOf))
  for (const source of speaking) {
    const effects: Effect[] = []
    for (const snapshot of source.snapshots) {
      const key = keyOf(source, snapshot)
      const name = nameOf(key)
      const row = rows.get(name) ?? { key, version: 0, customer: undefined, candidates: [], ambiguous: false, by: [] }
      const candidate = await candidateOf(source, snapshot)
      const next = merge(row.candidates, candidate)
      const same = JSON.stringify(next.candidates) === JSON.stringify(row.candidates)
      if (!same) rows.set(name, { ...row, ...next, by: [...row.by, source.event_id] })
      effects.push(effectOf(source, snapshot, candidate, row.candidates[0], next, same))
    }
    applied.effects.set(source.event_id, effects)
  }
  applied.projections = [...rows.values()].filter(({ by }) => by.length > 0)
  return applied
}

function keysOf(source: Source): ObjectKey[] {
  return source.snapshots.map((snapshot) => keyOf(source, snapshot))
}

function keyOf({ project_id, vendor }: Source, { kind, id }: Snapshot): ObjectKey {
  return { project_id, kind, vendor_id: id, vendor }
}

async function candidateOf({ vendor_event_id, event_id }: Source, snapshot: Snapshot): Promise<Candidate> {
  const { before, after, body } = snapshot
  return {
    rank: rankOf(snapshot),
    vendor_event_id,
    event_id,
    before: before === null ? null : await digest(before),
    after: await digest(after),
    body,
  }
}

/** 128 bits tell states apart; the states themselves would make rows of kilobytes. */
async function digest(text: string): Promise<string> {
  return (await sha256Hex(text)).slice(0, 32)
}

function effectOf(
  { earlier }: Source,
  { kind, id }: Snapshot,
  candidate: Candidate,
  before: Candidate | undefined,
  { candidates, ambiguous }: { candidates: Candidate[]; ambiguous: boolean },
  same: boolean,
): Effect {
  const known = same && earlier.find((one) => one.kind === kind && one.id === id)
  if (known) return known
  const speaks = candidates[0]?.vendor_event_id === candidate.vendor_event_id && candidates[0].after === candidate.after
  if (!speaks) return { kind, id, result: 'superseded', change: null }
  const change = changeOf(shownOf(kind, before?.body), shownOf(kind, candidate.body))
  return { kind, id, result: ambiguous ? 'ambiguous' : 'applied', change }
}

/** A body's fields as they are shown: a payment card is its payment method's `card`. */
function shownOf(kind: Kind, body: Candidate['body'] | undefined): Record<string, unknown> {
  return body && kind === 'payment_card' ? { card: cardOf(body as PaymentCardBody) } : { ...body }
}

/** Fields that differ; a field that is null on both sides, or was not there and is null, does not. */
function changeOf(before: Record<string, unknown>, after: Record<string, unknown>): Effect['change'] {
  const change: Record<string, { from: unknown; to: unknown }> = {}
  for (const [field, to] of Object.entries(after)) {
    const from = before[field] ?? null
    if (JSON.stringify(from) !== JSON.stringify(to ?? null)) change[field] = { from, to }
  }
  return Object.keys(change).length > 0 ? change : null
}
