import type { Ask, Db } from '../db/client'
import { paging } from '../http/page'
import type { Holder } from './facts'
import { MAX_CHANGES, MAX_WALKED } from './limits'
import { changing, type Difference, differencesOf, type PlanChange } from './preview'
import { type Place, readConcerned, type Step } from './preview-store'

/**
 * What a change of a plan would make of the consumers who have it, by a subscription or a grant. It writes nothing. One call walks
 * a part of the project's subscriptions, and after them of its grants. Each consumer counts in one call.
 *
 * @param ask sends the first statements: `batch`, or a route's `read`
 * @throws {Fault} `not_found`, `validation_failed`, `invalid_cursor`
 */
export async function previewPlan(
  db: Db,
  ask: Ask,
  of: { project_id: string; id: string },
  change: PlanChange,
  cursor: string | undefined,
) {
  const asked = { ...change, plan: of.id, limit: MAX_WALKED, cursor }
  const list = paging('plan_preview', asked)
  const start = placeIn(list.before)
  const { steps, more, refs, holders, catalog, now } = await readConcerned(db, ask, of, change, start)
  const after = changing(of.id, change, refs)
  const nextCatalog = after.catalog(catalog)
  // The first step of each consumer.
  const stepOf = new Map(steps.toReversed().map((step) => [step.consumer, step]))
  const differing = holders.flatMap((holder) => {
    const step = stepOf.get(holder.id)
    if (!step || isOfEarlierCall(step.place, start, holder, of.id, after.concerns)) return []
    const next = { holder: after.holder(holder), catalog: nextCatalog }
    const differences = differencesOf(catalog.features, { holder, catalog }, next, now)
    return differences.length === 0 ? [] : [{ step, differences }]
  })
  const changes = differing.flatMap(({ step, differences }) =>
    differences.map(({ direction: _, ...one }) => ({ ...whose(step), ...one })),
  )
  const all = differing.flatMap(({ differences }) => differences)
  const last = steps.at(-1)
  const { has_more, next_cursor } = list.upTo([], more && last ? textOf(last.place) : null)
  return {
    examined: examinedIn(steps),
    affected: differing.length,
    gains: countOf(all, 'gains'),
    losses: countOf(all, 'losses'),
    changes: changes.slice(0, MAX_CHANGES),
    has_more,
    next_cursor,
  }
}

function whose({ consumer, customer, place }: Step) {
  return { consumer: consumer ?? '', vendor: place.of === 'subscription' ? place.vendor : null, customer }
}

/** How many consumers gain or lose each feature. */
function countOf(differences: readonly Difference[], direction: 'gains' | 'losses'): Record<string, number> {
  const those = Map.groupBy(
    differences.filter((one) => one.direction === direction),
    ({ feature }) => feature,
  )
  return Object.fromEntries([...those].map(([feature, list]) => [feature, list.length]))
}

/** How many subscriptions were walked, and grants of the plan found. */
function examinedIn(steps: readonly Step[]): number {
  const walked = steps.findLast(({ place }) => place.of === 'subscription')?.nth ?? 0
  return walked + steps.filter(({ place, consumer }) => place.of === 'grant' && consumer !== null).length
}

/** Whether an earlier call counted the consumer: by a subscription or a grant that stands before where this call starts. */
function isOfEarlierCall(
  at: Place,
  start: Place | null,
  { id: consumer, subscriptions, grants }: Holder & { id: string | null },
  planId: string,
  concerns: (one: Holder['subscriptions'][number]) => boolean,
): boolean {
  const concerned = subscriptions.filter(concerns)
  if (at.of === 'grant' && concerned.length > 0) return true
  if (start?.of !== at.of) return false
  // Grants are walked consumer by consumer: only the one with whom the last call ended can have been counted.
  if (start.of === 'grant') {
    return consumer === start.consumer && grants.some(({ plan_id, id }) => plan_id === planId && id <= start.id)
  }
  return concerned.some(({ id, vendor }) => id < start.id || (id === start.id && vendor <= start.vendor))
}

/** A place as a text. Neither part has a space. */
function textOf(place: Place): string {
  return place.of === 'grant' ? `g ${place.consumer} ${place.id}` : `s ${place.vendor} ${place.id}`
}

function placeIn(text: string | null): Place | null {
  if (text === null) return null
  const [of, first = '', id = ''] = text.split(' ')
  return of === 'g' ? { of: 'grant', consumer: first, id } : { of: 'subscription', vendor: first, id }
}
