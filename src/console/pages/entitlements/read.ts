import type { Results } from '../../../db/client'
import { explain } from '../../../entitlements/explain'
import type { Catalog, Holder } from '../../../entitlements/facts'
import { type Explained, resolve } from '../../../entitlements/resolve'
import { factsIn, type factsOf } from '../../../entitlements/store'
import { Fault } from '../../../lib/fault'

type Found = Results<ReturnType<typeof factsOf>>
export type Source = ReturnType<typeof explain>[number]

/** One feature of a consumer, with everything that could give it. */
export type Entitled = Explained & { key: string; name: string; from: Source[] }

/** What a consumer may do. `items`: what the consumer pays for and no plan has. */
export type Entitlements = { now: number; all: Entitled[]; plans: ReadonlyMap<string, string>; items: Source[] }

/** What `factsOf` read about one consumer, decided; null if the consumer has too much for one answer. */
export function entitlementsIn(found: Found): Entitlements | null {
  const facts = factsOrNull(found)
  if (facts === null) return null
  const { now, catalog, holders } = facts
  const [holder = { state: null, subscriptions: [], grants: [] }] = holders
  return { now, ...decided(found, holder, catalog, now) }
}

function decided(found: Found, holder: Holder, catalog: Catalog, now: number) {
  const all = found.features.map(({ key, name }) => {
    const one = resolve(key, holder, catalog, now)
    return { ...one, key, name, from: explain(key, one, holder, now) }
  })
  // What is mapped to no plan is among the sources of every feature.
  const isUnmapped = ({ type, plan }: Source) => type === 'subscription' && plan === null
  return {
    all: all.map((one) => ({ ...one, from: one.from.filter((source) => !isUnmapped(source)) })),
    plans: new Map(catalog.plans.map(({ id, key }) => [key, id])),
    items: (all[0]?.from ?? []).filter(isUnmapped),
  }
}

function factsOrNull(found: Found) {
  try {
    return factsIn(found, 1)
  } catch (error) {
    if (error instanceof Fault && error.fault === 'payload_too_large') return null
    throw error
  }
}
