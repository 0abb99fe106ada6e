import type { StateKind } from './kinds'
import { type Cut, fittedBody } from './lib/bounded'
import { type Json, without } from './lib/json'
import { BODIES, type Bodies } from './objects'
import { canonical, type Made, type Snapshot } from './snapshot'

/*
 * For vendors that send whole objects and nothing about the state before.
 */

/** What the functions for each kind of a vendor's objects get. */
export type From = {
  /** The vendor's name of the event. */
  type: string
  object: Json
  common: Pick<
    Bodies['subscription'],
    'customer' | 'vendor_status' | 'livemode' | 'created_at' | 'updated_at' | 'metadata'
  >
  /** Set where a list is not whole. */
  cut: Cut
}

/** What orders the states of an object: see {@link Snapshot}. */
export type When = Pick<Snapshot, 'version' | 'occurred_at' | 'updated_at' | 'step'>

/** An object of a kind without a value in any field, for what a vendor does not have. */
export function blank<K extends StateKind>(kind: K): Omit<Bodies[K], 'status'> {
  const { status: _, ...fields } = BODIES[kind].shape
  const nulls = Object.fromEntries(Object.keys(fields).map((field) => [field, null]))
  return { ...nulls, ...(kind === 'subscription' && { items: [] }) } as unknown as Omit<Bodies[K], 'status'>
}

const NO_ITEM = Object.fromEntries(
  Object.keys(BODIES.subscription.shape.items.element.shape).map((field) => [field, null]),
)
const NO_LINE = Object.fromEntries(
  Object.keys(BODIES.invoice.shape.lines.unwrap().shape.data.element.shape).map((field) => [field, null]),
)
type Item = Bodies['subscription']['items'][number]
type Line = NonNullable<Bodies['invoice']['lines']>['data'][number]

/** An item of a subscription with these fields. */
export function itemWith(known: Partial<Item>): Item {
  return { ...(NO_ITEM as unknown as Item), ...known }
}

/** A line of an invoice with these fields. */
export function lineWith(known: Partial<Line>): Line {
  return { ...(NO_LINE as unknown as Line), ...known }
}

/**
 * A snapshot. States are equal if everything that is kept of them is: values that a vendor makes afresh for each event, and those that it
 * changes without a new version, tell no two of them apart.
 */
export function wholeSnapshot<K extends StateKind>(
  { kind, id, when }: { kind: K; id: string; when: When },
  { body, terminal }: Made<K>,
  cut: Cut,
): Snapshot {
  const kept = fittedBody(body, cut)
  const after = canonical(without(kept as Json, 'updated_at', 'hosted_url', 'pdf_url'))
  const known = {
    kind,
    id,
    body: kept,
    terminal: terminal && when.version === null,
    ...when,
    after,
    before: null,
    reports: false,
    incomplete: cut.any,
  }
  return known as unknown as Snapshot
}

/** The given and the family name as one. */
export function fullName(...names: unknown[]): string | null {
  return names.filter((name) => typeof name === 'string' && name !== '').join(' ') || null
}
