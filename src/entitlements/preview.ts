import { featuresAmong } from '../catalog/features'
import { findPlan, type PlanOf } from '../catalog/plans'
import { misfits } from '../catalog/values'
import type { Send } from '../db/client'
import type { Runtime } from '../env'
import { inRoom } from '../http/answering'
import { MAX_SMALL_BYTES } from '../http/limits'
import { paging } from '../http/page'
import { invalidFields } from '../http/validate'
import { requireFound } from '../lib/fault'
import { withoutGuest } from '../vendors/guest'
import { alterable, changing, type EntitlementDifference, entitlementDifferences, type HolderState } from './changed'
import {
  alteredBy,
  type CatalogChange,
  concernsAll,
  type Place,
  type PlanChange,
  type PreviewStep,
  readConcerned,
  stepsUntil,
  walksOf,
} from './concerned'
import { type ConsumerFacts, type GrantFact, type Item, indexed, type SubscriptionFact } from './facts'
import { type AskedConsumer, countSources } from './holders'
import type { HeldKind } from './holdings'
import { MAX_CHANGES, MAX_PREVIEW_WORK, MAX_WALKED, PREVIEW_SLICE } from './limits'
import { amountOf } from './resolve'
import { whyOf } from './sources'
import { accessOf } from './window'

/** Who asks for a preview. `ask` sends the first statements: `batch`, or a route's `read`. */
export type Previewing = { rt: Pick<Runtime, 'db' | 'waitUntil'>; ask: Send }

/**
 * What a change of a plan would make of the consumers who have it, by a subscription, a purchase or a grant, or by default. It writes
 * nothing. One call walks a part of the project's subscriptions, after them of its purchases, then of its grants, and of the default plan
 * then of all consumers. Each consumer counts in one call.
 *
 * @throws {Fault} `not_found`, `validation_failed` for features that the project does not have or that the values do not fit,
 *   `invalid_cursor`, `overloaded`
 */
export async function previewPlan({ rt, ask }: Previewing, of: PlanOf, change: PlanChange, cursor: string | undefined) {
  const { project_id, id } = of
  const { features = {}, prices } = change
  const list = previewList('plan_preview', { ...change, plan: id }, cursor)
  const all = { plans: new Map([[id, change]]), added: [], combines: new Map(), rules: {} }
  const { plans, known, ...walked } = await ask({
    plans: findPlan(rt.db, project_id, id),
    known: featuresAmong(rt.db, project_id, Object.keys(features)),
    ...walksOf(rt.db, project_id, all, list.start),
  })
  const plan = requireFound(plans, 'Plan')
  const wrong = misfits(features, known)
  if (wrong.length > 0) throw invalidFields(wrong)
  const altered = alteredBy(plan, change)
  const concerned = await readConcerned(rt.db, project_id, walked, { keys: prices ? null : altered, rules: {} })
  return previewOf(rt, project_id, { ...concerned, altered, change: all }, list)
}

/** The pages of a preview. `start`: where the last call ended. @throws {Fault} `invalid_cursor` */
export function previewList(name: string, asked: Record<string, unknown>, cursor: string | undefined) {
  const list = paging(name, { ...asked, limit: MAX_WALKED, cursor })
  return { ...list, start: placeIn(list.before) }
}

/** `altered`: features that the change makes plans give in another way. */
type Concerned = Awaited<ReturnType<typeof readConcerned>> & { altered: readonly string[]; change: CatalogChange }

/** What a change would make of these consumers. */
export async function previewOf(
  rt: Previewing['rt'],
  projectId: string,
  concerned: Concerned,
  list: ReturnType<typeof previewList>,
) {
  const bytes = Math.max(concerned.bytes, MAX_SMALL_BYTES)
  const { steps, differing } = await inRoom(rt, projectId, bytes, () => differingAmong(concerned, list.start))
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
async function differingAmong({ altered, change, steps, facts }: Concerned, start: Place | null) {
  const { refs, holders, catalog: stored, now } = await facts()
  // Before, nothing gives a new feature.
  const catalog = indexed({ ...stored, features: [...stored.features, ...change.added] })
  const after = changing(change, refs)
  const nextCatalog = indexed(after.catalog(catalog))
  // The first step of each consumer.
  const stepOf = new Map(steps.toReversed().map((step) => [step.consumer, step]))
  const differing = []
  let [work, slice] = [0, 0]
  for (const [n, holder] of holders.entries()) {
    const step = stepOf.get(holder.id)
    if (!step || isOfEarlierCall({ at: step.place, start, now }, holder, change, after.concerns)) continue
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
    if (differences.length > 0) differing.push({ ...whose(before, next, change, now), differences })
    if (slice < PREVIEW_SLICE) continue
    slice = 0
    await scheduler.wait(1)
  }
  return { differing, steps }
}

/** The consumer, with the customer by whose subscription or purchase it has a plan or would have it; null if by a grant or by default. */
function whose(
  before: HolderState & { holder: AskedConsumer },
  after: HolderState,
  { plans, rules }: CatalogChange,
  now: number,
) {
  const isAny = concernsAll(rules)
  const has = ({ items }: { items: readonly Item[] }) =>
    items.some(({ plan_id }) => plan_id !== null && (isAny || plans.has(plan_id)))
  const gives = (one: SubscriptionFact) =>
    [before, after].some(({ catalog }) => accessOf(one, catalog.rules, now).why === null)
  const giver = before.holder.subscriptions.find((one, n) => {
    const next = after.holder.subscriptions[n] ?? one
    return (has(one) || has(next)) && gives(one)
  })
  const buyer = after.holder.purchases.find((one, n) => has(one) || has(before.holder.purchases[n] ?? one))
  const by = giver ?? buyer
  return {
    consumer: before.holder.id ?? '',
    vendor: by?.vendor ?? null,
    customer: by ? withoutGuest(by.vendor, by.customer) : null,
  }
}

/** Whether a feature becomes less, and stays. */
const isReduction = ({ direction, to }: EntitlementDifference) => direction === 'losses' && amountOf(to) > 0

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
  { plans, combines }: CatalogChange,
  concerns: (one: { vendor: string; items: readonly Item[] }) => boolean,
): boolean {
  const [subscribed, bought] = [subscriptions.filter(concerns), purchases.filter(concerns)]
  if (at.of !== 'subscription' && subscribed.length > 0) return true
  if (at.of !== 'subscription' && at.of !== 'purchase' && bought.length > 0) return true
  const isOf = ({ plan_id, feature }: GrantFact) =>
    (plan_id !== null && plans.has(plan_id)) || (feature !== null && combines.has(feature))
  const isGranted = (one: GrantFact) => isOf(one) && whyOf(one, now) !== 'expired'
  // Each consumer is walked once.
  if (at.of === 'consumer') return grants.some(isGranted)
  if (start?.of !== at.of) return false
  // Grants are walked consumer by consumer: only the one with whom the last call ended can have been counted.
  if (start.of === 'grant') {
    return consumer === start.consumer && grants.some((one) => isOf(one) && one.id <= start.id)
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
