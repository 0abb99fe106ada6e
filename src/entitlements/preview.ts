import type { PlanFields } from '../catalog/change-store'
import type { Price } from '../catalog/plans-store'
import type { Catalog, Feature, Holder, Item, Subscription } from './facts'
import { amountOf, resolve } from './resolve'

/** What of a plan's change can make a difference. What is left out stays as it is. */
export type PlanChange = Partial<Pick<PlanFields, 'key' | 'rank' | 'features' | 'prices'>>
type Mapped = Price & { plan_id: string }

/** A feature of a consumer before and after a change. */
export type Difference = { feature: string; from: unknown; to: unknown; direction: 'gains' | 'losses' | null }

/**
 * The catalog and the consumers as a change of a plan would make them. Prices that another plan has are taken from it.
 *
 * @param refs all prices that are mapped to plans of the project
 */
export function changing(planId: string, change: PlanChange, refs: readonly Mapped[]) {
  const { key, rank, features, prices } = change
  const nameOf = ({ vendor, ref }: Price) => `${vendor} ${ref}`
  const own = refs.filter(({ plan_id }) => plan_id === planId)
  const others = refs.filter(({ plan_id }) => plan_id !== planId)
  const touched = new Set([...own, ...(prices ?? [])].map(nameOf))
  const plans = new Map([
    ...others.map((one) => [nameOf(one), one.plan_id] as const),
    ...(prices ?? own).map((one) => [nameOf(one), planId] as const),
  ])
  const namesOf = (vendor: string, { price, product }: Item) =>
    [price, product].filter((ref) => ref !== null).map((ref) => nameOf({ vendor, ref }))
  const planOf = (vendor: string, item: Item) =>
    namesOf(vendor, item)
      .map((name) => plans.get(name))
      .find((id) => id !== undefined) ?? null
  return {
    /** Whether the change concerns a subscription. */
    concerns: ({ vendor, items }: Subscription): boolean =>
      items.some((item) => namesOf(vendor, item).some((name) => touched.has(name))),
    catalog: (before: Catalog): Catalog => ({
      ...before,
      plans: before.plans.map((plan) =>
        plan.id === planId
          ? { ...plan, key: key ?? plan.key, rank: rank ?? plan.rank, features: features ?? plan.features }
          : plan,
      ),
    }),
    holder: (before: Holder): Holder => ({
      ...before,
      subscriptions: before.subscriptions.map((one) => ({
        ...one,
        items: one.items.map((item) => ({ ...item, plan_id: planOf(one.vendor, item) })),
      })),
    }),
  }
}

/** What differs for a consumer: the features whose values do, by the same facts at the same time. */
export function differencesOf(
  features: readonly Feature[],
  before: { holder: Holder; catalog: Catalog },
  after: { holder: Holder; catalog: Catalog },
  now: number,
): Difference[] {
  return features.flatMap(({ key, type }) => {
    const from = resolve(key, before.holder, before.catalog, now)
    const to = resolve(key, after.holder, after.catalog, now)
    if (JSON.stringify(from.value) === JSON.stringify(to.value)) return []
    const given = (one: typeof from) => (type === 'quantity' ? amountOf(one.value) : Number(one.allowed))
    const more = given(to) - given(from)
    const direction = more === 0 ? null : more > 0 ? ('gains' as const) : ('losses' as const)
    return [{ feature: key, from: from.value, to: to.value, direction }]
  })
}
