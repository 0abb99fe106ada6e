import type { MappedPrice, Price } from '../catalog/plans'
import type { CatalogChange } from './concerned'
import {
  type Catalog,
  type ConsumerFacts,
  type IndexedCatalog,
  type Item,
  type PlanFact,
  refsIn,
  type SubscriptionFact,
} from './facts'
import { amountOf, resolver } from './resolve'

type Mapped = MappedPrice & { plan_id: string }

/** A feature of a consumer before and after a change. */
export type EntitlementDifference = {
  feature: string
  from: unknown
  to: unknown
  direction: 'gains' | 'losses' | null
}

/**
 * The catalog and the consumers as a change would make them. Prices that another plan has are taken from it.
 *
 * @param refs all prices that are mapped to plans of the project
 */
export function changing({ plans, combines, rules }: CatalogChange, refs: readonly Mapped[]) {
  const nameOf = ({ vendor, ref }: Price) => `${vendor} ${ref}`
  const own = refs.filter(({ plan_id }) => plans.has(plan_id))
  const given = [...plans].flatMap(([plan_id, { prices = [] }]) => prices.map((one) => ({ ...one, plan_id })))
  const staying = refs.filter(({ plan_id }) => plans.get(plan_id)?.prices === undefined)
  const touched = new Set([...own, ...given].map(nameOf))
  const mapped = new Map(
    [...staying, ...given].map(({ lasts = null, again = null, plan_id, ...one }) => [
      nameOf(one),
      { plan_id, lasts, again },
    ]),
  )
  const namesOf = (vendor: string, item: Item) => refsIn(item).map((ref) => nameOf({ vendor, ref }))
  const mappedAs = <I extends Item>(vendor: string, item: I): I => ({
    ...item,
    ...(namesOf(vendor, item)
      .map((name) => mapped.get(name))
      .find((one) => one !== undefined) ?? { plan_id: null, lasts: null, again: null }),
  })
  return {
    /** Whether the change concerns a subscription or a purchase. */
    concerns: ({ vendor, items }: Pick<SubscriptionFact, 'vendor' | 'items'>): boolean =>
      items.some((item) => namesOf(vendor, item).some((name) => touched.has(name))),
    catalog: (before: Catalog): Catalog => {
      const known = new Set(before.plans.map(({ id }) => id))
      const added = [...plans.keys()]
        .filter((id) => !known.has(id))
        .map((id) => ({ id, key: '', rank: 0, features: {} }))
      return {
        ...before,
        rules: { ...before.rules, ...rules },
        features: before.features.map((one) => ({ ...one, combine: combines.get(one.key) ?? one.combine })),
        plans: [...before.plans, ...added].map((plan): PlanFact => {
          const { key = plan.key, rank = plan.rank, features = plan.features } = plans.get(plan.id) ?? {}
          return { id: plan.id, key, rank, features }
        }),
      }
    },
    holder: (before: ConsumerFacts): ConsumerFacts => ({
      ...before,
      subscriptions: before.subscriptions.map((one) => ({
        ...one,
        items: one.items.map((item) => mappedAs(one.vendor, item)),
      })),
      purchases: before.purchases.map((one) => ({
        ...one,
        items: one.items.map((item) => mappedAs(one.vendor, item)),
      })),
    }),
  }
}

/** A consumer and the catalog, before or after a change. */
export type HolderState = { holder: ConsumerFacts; catalog: IndexedCatalog }

/** What differs for a consumer: of these features, those whose values do, by the same facts at the same time. */
export function entitlementDifferences(
  keys: Iterable<string>,
  before: HolderState,
  after: HolderState,
  now: number,
): EntitlementDifference[] {
  const fromOf = resolver(before.holder, before.catalog, now)
  const toOf = resolver(after.holder, after.catalog, now)
  return [...keys].flatMap((key) => {
    const type = before.catalog.byKey.get(key)?.type
    if (type === undefined) return []
    const [from, to] = [fromOf(key), toOf(key)]
    if (from.value === to.value || JSON.stringify(from.value) === JSON.stringify(to.value)) return []
    const given = (one: typeof from) => (type === 'quantity' ? amountOf(one.value) : Number(one.allowed))
    const more = given(to) - given(from)
    const direction = more === 0 ? null : more > 0 ? ('gains' as const) : ('losses' as const)
    return [{ feature: key, from: from.value, to: to.value, direction }]
  })
}

/** The features that can differ for a consumer: what the change alters of the plan, and what plans give that gain or lose an item. */
export function alterable(altered: readonly string[], before: HolderState, after: HolderState): Set<string> {
  const keys = new Set(altered)
  const next = [...after.holder.subscriptions, ...after.holder.purchases]
  for (const [n, { items }] of [...before.holder.subscriptions, ...before.holder.purchases].entries()) {
    for (const [i, { plan_id: from, lasts = null, again = null }] of items.entries()) {
      const item = next[n]?.items[i]
      const to = item?.plan_id ?? null
      if (from === to && lasts === (item?.lasts ?? null) && again === (item?.again ?? null)) continue
      const given = [before, after].flatMap(({ catalog }) =>
        // Who gains or loses a plan loses or gains the default plan.
        [from, to, catalog.rules.default_plan].map((id) => catalog.byId.get(id ?? '')?.features),
      )
      for (const key of given.flatMap((features) => Object.keys(features ?? {}))) keys.add(key)
    }
  }
  return keys
}
