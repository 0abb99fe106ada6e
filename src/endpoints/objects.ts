import { and, eq } from 'drizzle-orm'
import { presentObject } from '../billing/read/present'
import { findObject } from '../billing/read/store'
import { billingObjects } from '../billing/schema'
import { findFeature } from '../catalog/features'
import { presentFeature, presentPlan } from '../catalog/fields'
import { findPlan, mappedPrices, withPrices } from '../catalog/plans'
import { presentConsumer } from '../consumers/fields'
import { findConsumer } from '../consumers/read'
import { batch, type Db, type Queries } from '../db/client'
import { presentGrant } from '../entitlements/grant-fields'
import { findGrant } from '../entitlements/grants'
import type { NumberedChange } from '../feed/read'
import { CHANGE_TYPES, type ChangeObject, type ChangeType } from '../feed/types'
import type { ShownKind } from '../lib/billing-kinds'
import type { Item } from './items'

/** An object as it is now, with its revision, if it has one. */
export type Current = { revision: number | null; object: object }

/** How an object is read: the statements, and what their rows say. The scope of a change's type is the one that reads its object. */
type Reading = { queries: Queries; currentOf: (rows: Record<string, unknown[]>) => Current | null | undefined }
type Reader = (db: Db, projectId: string, change: NumberedChange) => Reading

/** The objects that are sent with their changes. */
const READERS: Partial<Record<ChangeObject, Reader>> = {
  subscription: billing('subscription'),
  invoice: billing('invoice'),
  payment_method: billing('payment_method'),
  purchase: billing('purchase'),
  customer: billing('customer'),
  consumer: (db, projectId, { id }) =>
    reading({ rows: findConsumer(db, projectId, { id }) }, ({ rows: [row] }) =>
      row ? { revision: row.revision, object: presentConsumer(row) } : null,
    ),
  feature: (db, projectId, { id }) =>
    reading({ rows: findFeature(db, projectId, id) }, ({ rows: [row] }) =>
      row ? { revision: null, object: presentFeature(row) } : null,
    ),
  plan: (db, projectId, { id }) =>
    reading({ rows: findPlan(db, projectId, id), refs: mappedPrices(db, projectId, id) }, ({ rows, refs }) => {
      const [plan] = withPrices(rows, refs)
      return plan ? { revision: plan.revision, object: presentPlan(plan) } : null
    }),
  grant: (db, projectId, { id }) =>
    reading({ rows: findGrant(db, projectId, id) }, ({ rows: [row] }) =>
      row ? { revision: null, object: presentGrant(row) } : null,
    ),
}

/** The types of objects that are sent with their changes. */
export const SENT_OBJECTS = Object.keys(READERS) as ChangeObject[]

function billing(kind: ShownKind): Reader {
  return (db, projectId, { id, vendor }) => {
    const o = billingObjects
    // A customer can be linked or pinned before an event tells of it.
    const missing = kind === 'customer' ? undefined : null
    const own = and(eq(o.project_id, projectId), eq(o.kind, kind), eq(o.vendor_id, id), eq(o.vendor, vendor ?? ''))
    const queries = {
      rows: findObject(db, projectId, { kind, id, vendor }),
      revisions: db.select({ revision: o.version }).from(o).where(own),
    }
    return reading(queries, ({ rows: [row], revisions }) =>
      row?.body ? { revision: revisions[0]?.revision ?? null, object: presentObject(kind, row) } : missing,
    )
  }
}

/** Keeps the types of the rows together with what is made of them. */
function reading<Q extends Queries>(
  queries: Q,
  currentOf: (rows: { [K in keyof Q]: Q[K]['_']['result'] }) => Current | null | undefined,
): Reading {
  return { queries, currentOf: currentOf as Reading['currentOf'] }
}

/**
 * Reads the objects of what is to be sent, each once.
 *
 * @returns the object of an item; null if it is gone, and undefined where none is sent
 */
export async function readObjects(db: Db, projectId: string, items: readonly Item[]) {
  const readings = new Map<string, Reading>()
  for (const item of items) {
    if (item.kind === 'gap') continue
    const read = READERS[CHANGE_TYPES[item.change.type as ChangeType].object]
    if (read) readings.set(keyOf(item), read(db, projectId, item.change))
  }
  const entries = [...readings]
  const queries = entries.flatMap(([, { queries }], i) =>
    Object.entries(queries).map(([name, query]) => [`${name}:${i}`, query] as const),
  )
  const found: Record<string, unknown> = queries.length > 0 ? await batch(db, Object.fromEntries(queries)) : {}
  const current = new Map(
    entries.map(([key, { queries, currentOf }], i) => {
      const names = Object.keys(queries)
      return [key, currentOf(Object.fromEntries(names.map((name) => [name, found[`${name}:${i}`] as unknown[]])))]
    }),
  )
  return (item: Item): Current | null | undefined => (item.kind === 'gap' ? undefined : current.get(keyOf(item)))
}

function keyOf(item: Exclude<Item, { kind: 'gap' }>): string {
  const { type, vendor = '', id } = item.change
  return [CHANGE_TYPES[type as ChangeType].object, vendor, id].join('\n')
}
