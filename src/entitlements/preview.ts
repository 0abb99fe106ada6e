import type { MappedPrice, PlanOf, Price } from '../catalog/plans'
import type { Send } from '../db/client'
import type { Runtime } from '../env'
import { inRoom } from '../http/answering'
import { MAX_SMALL_BYTES } from '../http/limits'
import { paging } from '../http/page'
import { withoutGuest } from '../vendors/guest'
import { type Place, type PlanChange, type PreviewStep, readConcerned, stepsUntil } from './concerned'
import {
  type Catalog,
  type ConsumerFacts,
  type GrantFact,
  type IndexedCatalog,
  type Item,
  indexed,
  refsIn,
  type SubscriptionFact,
} from './facts'
import { type AskedConsumer, countSources } from './holders'
import type { HeldKind } from './holdings'
import { MAX_CHANGES, MAX_PREVIEW_WORK, MAX_WALKED, PREVIEW_SLICE } from './limits'
import { amountOf, resolver } from './resolve'
import { whyOf } from './sources'
import { accessOf } from './window'

type Mapped = MappedPrice & { plan_id: string }

/** A feature of a consumer before and after a change. */
export type EntitlementDifference = {
  feature: string
  from: unknown
  to: unknown
  direction: 'gains' | 'losses' | null
}

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
  const mappingOf = ({ lasts = null, again = null }: MappedPrice, plan_id: string) => ({ plan_id, lasts, again })
  const mapped = new Map([
    ...others.map((one) => [nameOf(one), mappingOf(one, one.plan_id)] as const),
    ...(prices ?? own).map((one) => [nameOf(one), mappingOf(one, planId)] as const),
  ])
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
    catalog: (before: Catalog): Catalog => ({
      ...before,
      plans: before.plans.map((plan) =>
        plan.id === planId
          ? { ...plan, key: key ?? plan.key, rank: rank ?? plan.rank, features: features ?? plan.features }
          : plan,
      ),
    }),
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

type State = { holder: ConsumerFacts; catalog: IndexedCatalog }

/** What differs for a consumer: of these features, those whose values do, by the same facts at the same time. */
function entitlementDifferences(
  keys: Iterable<string>,
  before: State,
  after: State,
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
function alterable(altered: readonly string[], before: State, after: State): Set<string> {
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

/**
 * What a change of a plan would make of the consumers who have it, by a subscription, a purchase or a grant, or by default. It writes
 * nothing. One call walks a part of the project's subscriptions, after them of its purchases, then of its grants, and of the default plan
 * then of all consumers. Each consumer counts in one call.
 *
 * @param by.ask sends the first statements: `batch`, or a route's `read`
 * @throws {Fault} `not_found`, `validation_failed`, `invalid_cursor`, `overloaded`
 */
export async function previewPlan(
  by: { rt: Pick<Runtime, 'db' | 'waitUntil'>; ask: Send },
  of: PlanOf,
  change: PlanChange,
  cursor: string | undefined,
) {
  const asked = { ...change, plan: of.id, limit: MAX_WALKED, cursor }
  const list = paging('plan_preview', asked)
  const start = placeIn(list.before)
  const concerned = await readConcerned({ db: by.rt.db, ask: by.ask }, of, change, start)
  const bytes = Math.max(concerned.bytes, MAX_SMALL_BYTES)
  const { steps, differing } = await inRoom(by.rt, of.project_id, bytes, () =>
    differingAmong(concerned, of, change, start),
  )
  const changes = differing.flatMap(({ differences, ...whose }) =>
    differences.map(({ direction: _, ...one }) => ({ ...whose, ...one })),
  )
  const all = differing.flatMap(({ differences }) => differences)
  const last = steps.at(-1)
  const more = concerned.more || steps.length < concerned.steps.length
  const { has_more, next_cursor } = list.upTo([], more && last ? textOf(last.place) : null)
  return {
    examined: examinedIn(steps),
    affected: differing.length,
    gains: countOf(all, 'gains'),
    losses: countOf(all, 'losses'),
    reductions: countOf(all.filter(isReduction), 'losses'),
    changes: changes.slice(0, MAX_CHANGES),
    has_more,
    next_cursor,
  }
}

/**
 * The consumers for whom something becomes different, as far as one call works it out: `steps` are those that it gets through. It
 * gives way to other requests from time to time.
 */
async function differingAmong(
  { altered, steps, facts }: Awaited<ReturnType<typeof readConcerned>>,
  of: PlanOf,
  change: PlanChange,
  start: Place | null,
) {
  const { refs, holders, catalog, now } = await facts()
  const after = changing(of.id, change, refs)
  const nextCatalog = indexed(after.catalog(catalog))
  // The first step of each consumer.
  const stepOf = new Map(steps.toReversed().map((step) => [step.consumer, step]))
  const differing = []
  let [work, slice] = [0, 0]
  for (const [n, holder] of holders.entries()) {
    const step = stepOf.get(holder.id)
    if (!step || isOfEarlierCall({ at: step.place, start, now }, holder, of.id, after.concerns)) continue
    const before = { holder, catalog }
    const next = { holder: after.holder(holder), catalog: nextCatalog }
    const keys = alterable(altered, before, next)
    const more = keys.size * (1 + countSources(holder))
    if (work > 0 && work + more > MAX_PREVIEW_WORK) {
      const left = new Set(holders.slice(n).map(({ id }) => id))
      return { differing, steps: stepsUntil(steps, (id) => id !== null && left.has(id)) }
    }
    work += more
    slice += more
    const differences = entitlementDifferences(keys, before, next, now)
    if (differences.length > 0) differing.push({ ...whose(before, next, of.id, now), differences })
    if (slice < PREVIEW_SLICE) continue
    slice = 0
    await scheduler.wait(1)
  }
  return { differing, steps }
}

/** The consumer, with the customer by whose subscription or purchase it has the plan or would have it; null if by a grant or by default. */
function whose(before: State & { holder: AskedConsumer }, after: State, planId: string, now: number) {
  const has = ({ items }: SubscriptionFact) => items.some(({ plan_id }) => plan_id === planId)
  const giver = before.holder.subscriptions.find((one, n) => {
    const next = after.holder.subscriptions[n] ?? one
    return (has(one) || has(next)) && accessOf(one, before.catalog.rules, now).why === null
  })
  const buyer = after.holder.purchases.find(({ items }, n) =>
    [...items, ...(before.holder.purchases[n]?.items ?? [])].some(({ plan_id }) => plan_id === planId),
  )
  const by = giver ?? buyer
  return {
    consumer: before.holder.id ?? '',
    vendor: by?.vendor ?? null,
    customer: by ? withoutGuest(by.vendor, by.customer) : null,
  }
}

/** Whether a feature becomes less, and stays. */
const isReduction = ({ direction, to }: EntitlementDifference) =>
  direction === 'losses' && to !== false && amountOf(to) > 0

/** How many consumers gain or lose each feature. */
function countOf(differences: readonly EntitlementDifference[], direction: 'gains' | 'losses'): Record<string, number> {
  const those = Map.groupBy(
    differences.filter((one) => one.direction === direction),
    ({ feature }) => feature,
  )
  return Object.fromEntries([...those].map(([feature, list]) => [feature, list.length]))
}

/** How many subscriptions, purchases and consumers were walked, and grants of the plan found. */
function examinedIn(steps: readonly PreviewStep[]): number {
  const walked = (kind: HeldKind | 'consumer') => steps.findLast(({ place }) => place.of === kind)?.nth ?? 0
  return (
    walked('subscription') +
    walked('purchase') +
    walked('consumer') +
    steps.filter(({ place, consumer }) => place.of === 'grant' && consumer !== null).length
  )
}

/** Whether an earlier call counted the consumer: by a subscription, a purchase or a grant that stands before where this call starts. */
function isOfEarlierCall(
  { at, start, now }: { at: Place; start: Place | null; now: number },
  { id: consumer, subscriptions, purchases, grants }: ConsumerFacts & { id: string | null },
  planId: string,
  concerns: (one: { vendor: string; items: readonly Item[] }) => boolean,
): boolean {
  const [subscribed, bought] = [subscriptions.filter(concerns), purchases.filter(concerns)]
  if (at.of !== 'subscription' && subscribed.length > 0) return true
  if (at.of !== 'subscription' && at.of !== 'purchase' && bought.length > 0) return true
  const isGranted = (one: GrantFact) => one.plan_id === planId && whyOf(one, now) !== 'expired'
  // Each consumer is walked once.
  if (at.of === 'consumer') return grants.some(isGranted)
  if (start?.of !== at.of) return false
  // Grants are walked consumer by consumer: only the one with whom the last call ended can have been counted.
  if (start.of === 'grant') {
    return consumer === start.consumer && grants.some(({ plan_id, id }) => plan_id === planId && id <= start.id)
  }
  return (at.of === 'purchase' ? bought : subscribed).some(
    ({ id, vendor }) => id < start.id || (id === start.id && vendor <= start.vendor),
  )
}

/** A place as a text. No part has a space. */
function textOf(place: Place): string {
  if (place.of === 'consumer') return `c ${place.id}`
  if (place.of === 'grant') return `g ${place.consumer} ${place.id}`
  return `${place.of === 'purchase' ? 'p' : 's'} ${place.vendor} ${place.id}`
}

function placeIn(text: string | null): Place | null {
  if (text === null) return null
  const [of, first = '', id = ''] = text.split(' ')
  if (of === 'c') return { of: 'consumer', id: first }
  if (of === 'g') return { of: 'grant', consumer: first, id }
  return { of: of === 'p' ? 'purchase' : 'subscription', vendor: first, id }
}
