import type { ConsumerFacts, Item, SubscriptionFact } from './facts'
import { accessOf, type Rules } from './window'

/** An item, of the subscription with the smallest id among those that are alike; none for a subscription without items. */
type Alike = { subscription: SubscriptionFact; item: Item | null; times: number }

/**
 * The consumer with one subscription for all items that have the same plan and quantity and give access until the same time, or give
 * none for the same reason. The same follows from it, except what each item is the source of. A customer can have thousands of such
 * items, and each feature is derived from all of them.
 */
export function condensed(holder: ConsumerFacts, rules: Rules, now: number): ConsumerFacts {
  if (holder.subscriptions.length < 2) return holder
  const all = new Map<string, Alike>()
  for (const subscription of holder.subscriptions) {
    const { until, why } = accessOf(subscription, rules, now)
    for (const item of subscription.items.length > 0 ? subscription.items : [null]) {
      const key = item === null ? `${until} ${why}` : `${until} ${why} ${item.plan_id} ${item.quantity}`
      const known = all.get(key)
      if (!known) all.set(key, { subscription, item, times: 1 })
      else {
        known.times += 1
        if (subscription.id < known.subscription.id) known.subscription = subscription
      }
    }
  }
  const subscriptions = [...all.values()].map(({ subscription, item, times }) => ({
    ...subscription,
    items: item === null ? [] : [{ ...item, times }],
  }))
  return { ...holder, subscriptions }
}
