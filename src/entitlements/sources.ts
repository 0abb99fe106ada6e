import { UNLIMITED } from '../catalog/values'
import { idTime } from '../lib/ids'
import { type Bought, boughtBy } from './bought'
import type {
  Catalog,
  ConsumerFacts,
  FeatureFact,
  GrantFact,
  IndexedCatalog,
  Item,
  PlanFact,
  SubscriptionFact,
} from './facts'
import { type Access, accessOf, earliest, type Rules, whyOver } from './window'

/** What could give a consumer a feature: an item of a subscription or of a purchase, a grant, or the project's default plan. Times in ms. */
export type EntitlementSource = {
  type: 'subscription' | 'purchase' | 'grant' | 'default'
  /** The vendor's id of the subscription or the purchase, or the id of the grant or the default plan. */
  id: string
  vendor: string | null
  plan: PlanFact | null
  price: string | null
  seats: number | null
  value: unknown
  from: number | null
  until: number | null
  event_id: string | null
  ambiguous: boolean
  /** Why it gives nothing; null if it gives the value. `replaced`: of the default plan, if the consumer has a plan. */
  why: Access['why'] | 'replaced'
  /** What took it back or ended it, in words. */
  cause: string | null
}

/** The sources that would give a feature, by the consumer's subscriptions, purchases and allowing grants, and the default plan. */
export function sourcesOf(
  feature: FeatureFact,
  holder: ConsumerFacts,
  { byId, rules }: IndexedCatalog,
  now: number,
): EntitlementSource[] {
  const { subscriptions, purchases, grants } = holder
  const planOf = (id: string | null) => (id === null ? null : (byId.get(id) ?? null))
  const bySubscription = subscriptions.flatMap((one) => {
    const giving = one.items.filter(({ plan_id }) => givenBy(planOf(plan_id), feature.key))
    if (giving.length === 0) return []
    const access = accessOf(one, rules, now)
    return giving.flatMap((item) =>
      itemSource(feature, { subscription: one, item, plan: planOf(item.plan_id) }, access),
    )
  })
  const gives = ({ plan_id }: Item) => givenBy(planOf(plan_id), feature.key) !== undefined
  // Those of a plan follow each other, so all of them are looked at.
  const byPurchase = boughtBy(
    purchases.filter(({ items }) => items.some(gives)),
    rules,
    now,
  ).flatMap((one) => (gives(one.item) ? boughtSource(feature, one, planOf(one.item.plan_id)) : []))
  const byGrant = grants
    .filter(({ effect }) => effect === 'allow')
    .flatMap((grant) => grantSource(feature, grant, planOf(grant.plan_id), now))
  const defaultPlan = planOf(rules.default_plan)
  const given = givenBy(defaultPlan, feature.key)
  const byDefault =
    defaultPlan && given ? [defaultSource(defaultPlan, given.value, withoutPlan(holder, rules, now))] : []
  return [...bySubscription, ...byPurchase, ...byGrant, ...byDefault]
}

function itemSource(
  { key, type, combine }: FeatureFact,
  { subscription, item, plan }: { subscription: SubscriptionFact; item: Item; plan: PlanFact | null },
  { until, why }: Access,
): EntitlementSource[] {
  const given = givenBy(plan, key)
  if (!given) return []
  const seats = item.quantity === null ? 1 : Math.max(0, item.quantity)
  const value = type === 'quantity' && given.per_seat ? times(given.value, seats) : given.value
  const { vendor, id, event_id, ambiguous, period_start, reversal } = subscription
  const cause = reversal?.why === why ? reversal : null
  return [
    {
      type: 'subscription',
      id,
      vendor,
      plan,
      price: item.price,
      seats,
      from: period_start,
      until,
      event_id: cause?.event_id ?? event_id,
      value: combine === 'sum' && item.times !== undefined ? times(value, item.times) : value,
      ambiguous,
      why,
      cause: cause?.said ?? (why === 'expired' ? whyOver(subscription, { until }) : null),
    },
  ]
}

function boughtSource(
  { key, type }: FeatureFact,
  { purchase, item, from, until, why, cause }: Bought,
  plan: PlanFact | null,
): EntitlementSource[] {
  const given = givenBy(plan, key)
  if (!given) return []
  const bought = item.quantity ?? 1
  // What was returned in full gives nothing. It says what it gave, so that the reason is not that nothing was bought.
  const seats = item.returned < bought ? bought - item.returned : Math.max(0, bought)
  const { vendor, id, event_id, ambiguous } = purchase
  return [
    {
      type: 'purchase',
      id,
      vendor,
      plan,
      price: item.price ?? item.variant ?? null,
      seats,
      value: type === 'quantity' && given.per_seat ? times(given.value, seats) : given.value,
      from,
      until,
      event_id: cause?.event_id ?? event_id,
      ambiguous,
      why,
      cause: cause?.said ?? null,
    },
  ]
}

function grantSource({ key }: FeatureFact, grant: GrantFact, plan: PlanFact | null, now: number): EntitlementSource[] {
  const given = grant.feature === key ? grant : givenBy(plan, key)
  if (!given) return []
  const { id, starts_at, expires_at: until } = grant
  return [
    {
      type: 'grant',
      id,
      vendor: null,
      plan,
      price: null,
      seats: null,
      value: given.value,
      from: starts_at ?? idTime(id),
      until,
      event_id: null,
      ambiguous: false,
      why: whyOf(grant, now),
      cause: null,
    },
  ]
}

function defaultSource(
  plan: PlanFact,
  value: unknown,
  when: Pick<EntitlementSource, 'until' | 'why'>,
): EntitlementSource {
  return {
    type: 'default',
    id: plan.id,
    vendor: null,
    plan,
    price: null,
    seats: null,
    value,
    from: null,
    event_id: null,
    ambiguous: false,
    cause: null,
    ...when,
  }
}

/** Whether a consumer has no plan of its own at a time, and so has the default plan, and until when. What gives a plan may give no feature. */
function withoutPlan(
  { subscriptions, purchases, grants }: ConsumerFacts,
  rules: Rules,
  now: number,
): Pick<EntitlementSource, 'until' | 'why'> {
  const granted = grants
    .filter(({ plan_id }) => plan_id !== null)
    .map((grant) => ({ from: grant.starts_at, why: whyOf(grant, now) }))
  const given = [...granted, ...boughtBy(purchases, rules, now)]
  const isSubscribed = subscriptions.some(
    (one) => one.items.some(({ plan_id }) => plan_id !== null) && accessOf(one, rules, now).why === null,
  )
  if (isSubscribed || given.some(({ why }) => why === null)) return { until: null, why: 'replaced' }
  const next = given.filter(({ from, why }) => why === 'not_started' && from !== null && from > now)
  return { until: earliest(next.map(({ from }) => from)), why: null }
}

/** Why a grant does not count at a time; null if it does: from its start on, and no longer at its end. */
export function whyOf({ starts_at, expires_at }: GrantFact, now: number): EntitlementSource['why'] {
  if (expires_at !== null && now >= expires_at) return 'expired'
  return starts_at !== null && now < starts_at ? 'not_started' : null
}

/** Whether the consumer is denied a feature at a time. */
export function isDenied(key: string, grants: readonly GrantFact[], now: number): boolean {
  return grants.some((grant) => grant.effect === 'deny' && grant.feature === key && whyOf(grant, now) === null)
}

/** Whether the consumer has a subscription or a purchase that gives access, whatever it gives. */
export function hasAccess({ subscriptions, purchases }: ConsumerFacts, { rules }: Catalog, now: number): boolean {
  return (
    subscriptions.some((one): boolean => accessOf(one, rules, now).why === null) ||
    boughtBy(purchases, rules, now).some(({ why }) => why === null)
  )
}

/** What a plan gives for a feature. The keys of features are texts of customers, such as "constructor". */
function givenBy(plan: PlanFact | null, key: string) {
  return plan && Object.hasOwn(plan.features, key) ? plan.features[key] : undefined
}

function times(value: unknown, seats: number): unknown {
  if (value === UNLIMITED) return seats > 0 ? value : 0
  return Math.min(Number(value) * seats, Number.MAX_SAFE_INTEGER)
}
