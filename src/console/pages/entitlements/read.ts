import { presentObject } from '../../../billing/read/present'
import { findObjects } from '../../../billing/read/store'
import { listFeatures } from '../../../catalog/features'
import { MAX_FEATURES } from '../../../catalog/limits'
import type { PlanName } from '../../../catalog/plans'
import type { PlanState } from '../../../catalog/schema'
import type { ConsumerRef } from '../../../consumers/ref'
import { batch, type Results, run } from '../../../db/client'
import { historySince, holderAt, NOT_KNOWN_AHEAD, timeAsked } from '../../../entitlements/at'
import { explainAsked } from '../../../entitlements/explain'
import type { ConsumerFacts, IndexedCatalog } from '../../../entitlements/facts'
import { factsIn } from '../../../entitlements/holders'
import type { factsOf } from '../../../entitlements/read'
import { projectOf } from '../../../http/auth'
import { typesOfEvents } from '../../../inbox/events/of-customer'
import { Fault } from '../../../lib/fault'
import type { Visit } from '../../page'
import { priceName } from '../../ui/format'

type Found = Results<ReturnType<typeof factsOf>>
type Explained = ReturnType<typeof explainAsked>[string]
export type Source = Explained['sources'][number]

/** One feature of a consumer, with everything that could give it. */
export type Entitled = Omit<Explained, 'sources'> & { key: string; name: string; isOnOff: boolean; from: Source[] }

/** How many features the page of a consumer shows. */
export const FEATURES = 20

/** How many sources of a feature are shown, and items without a plan. */
export const SHOWN_SOURCES = 10

/** What sources name, in words where these are known: prices by {@link priceKey}, and the types of events by their ids. */
export type SourceNames = Record<'prices' | 'events', ReadonlyMap<string, string>>
export const priceKey = (vendor: string | null, price: unknown) => `${vendor} ${price}`

/** What is known of what sources name. @param objects that have the prices @param types of the events */
export function sourceNames(
  objects: readonly { vendor: string; items: Items }[],
  types: readonly { id: string; type: string }[],
): SourceNames {
  return { prices: pricesIn(objects), events: new Map(types.map(({ id, type }) => [id, type])) }
}

/** How many subscriptions and purchases, and events, the page of all features calls by their names, and how large one of the first may be. */
const NAMED = { objects: 20, events: 100, bytes: 64 * 1024 }

/** Reads what the sources of all features name, in one round trip, or in none. */
export async function withSourceNames(c: Visit, of: Entitlements | null): Promise<Entitlements | null> {
  const ids = eventsIn(of, MAX_FEATURES).slice(0, NAMED.events)
  if (of === null || ids.length === 0) return of
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { objects, types } = await batch(db, {
    objects: findObjects(db, project, soldIn(of).slice(0, NAMED.objects), { largest: NAMED.bytes }),
    types: typesOfEvents(db, project, ids),
  })
  const sold = objects.flatMap((row) => (row.body !== null && isHeld(row.kind) ? presentObject(row.kind, row) : []))
  return { ...of, called: sourceNames(sold, types) }
}

const isHeld = (kind: string) => kind === 'subscription' || kind === 'purchase'

/** The subscriptions and purchases that sources of features are, each of them once. */
function soldIn({ all }: Entitlements) {
  const held = all.flatMap(({ from }) =>
    from.flatMap(({ type, vendor, id }) =>
      vendor !== null && isHeld(type) ? [[`${vendor} ${id}`, { kind: type, vendor, id }] as const] : [],
    ),
  )
  return [...new Map(held).values()]
}

type Items = readonly Record<string, unknown>[] | null | undefined

/** The prices of items by what the vendor calls them. */
function pricesIn(objects: readonly { vendor: string; items: Items }[]): Map<string, string> {
  const named = objects.flatMap(({ vendor, items }) =>
    (items ?? []).flatMap((item) => {
      const name = priceName({ ...item, price: item.description })
      return name === null ? [] : [[priceKey(vendor, item.price ?? item.variant), name] as const]
    }),
  )
  return new Map(named)
}

/** The events that the sources name which are shown of so many features. */
export function eventsIn(of: Entitlements | null, features: number): string[] {
  const shown = (of?.all ?? []).slice(0, features).flatMap(({ from }) => from.slice(0, SHOWN_SOURCES))
  return [...new Set(shown.flatMap(({ event_id }) => event_id ?? []))]
}

/** What a consumer may do. */
export type Entitlements = {
  now: number
  all: Entitled[]
  /** The plans by their keys. */
  plans: ReadonlyMap<string, PlanName>
  /** The active plans that include a feature, whether or not the consumer has them. */
  includedIn: (feature: string) => PlanName[]
  /** What the consumer pays for and no plan has. */
  items: Source[]
  /** How long a subscription gives access after its period (hours). */
  slack: number
  /** Of another time: what is not known of it, in words. */
  missing: readonly string[] | null
  called?: SourceNames
}

/**
 * What `factsOf` read about one consumer, decided; null if the consumer has too much for one answer.
 *
 * @param ahead the time that it is decided for, if not for now (ms)
 */
export function entitlementsIn(found: Found, ahead?: number): Entitlements | null {
  const facts = unlessTooMuch(() => factsIn(found, 1))
  if (facts === null) return null
  const { catalog, holders } = facts
  const now = ahead ?? facts.now
  const [holder = { state: null, subscriptions: [], purchases: [], grants: [] }] = holders
  const answer = unlessTooMuch(() => decided(found, holder, catalog, now))
  return answer && { now, ...answer, missing: ahead === undefined ? null : NOT_KNOWN_AHEAD }
}

/**
 * What a consumer could do at an earlier time, or will be able to do at a later one.
 *
 * @param found what `factsOf` read about it
 * @throws {Fault} `validation_failed` for a time that cannot be asked about
 */
export async function readEntitlementsAt(
  c: Visit,
  { ref, found }: { ref: ConsumerRef; found: Found },
  text: string,
): Promise<Entitlements | null> {
  const { db, now, settings } = c.get('rt')
  const at = timeAsked(text, now)
  if (at > now) return entitlementsIn(found, at)
  const project = projectOf(c.get('actor'))
  const keptSince = historySince({ settings, now })
  const named = { project_id: project, ref }
  const past = await holderAt({ db, ask: (asked) => batch(db, asked), keptSince }, named, at)
  const { holder, catalog, missing } = past
  const features = await run(db, listFeatures(db, project))
  return { now: at, ...decided({ features, plans: found.plans }, holder, catalog, at), missing }
}

/** What features and plans are called now. */
type Named = {
  features: readonly { key: string; name: string }[]
  plans: readonly { id: string; name: string | null; state: PlanState }[]
}

/** @throws {Fault} `payload_too_large` */
function decided(named: Named, holder: ConsumerFacts, catalog: IndexedCatalog, now: number) {
  const nameOf = new Map(named.features.map(({ key, name }) => [key, name]))
  const planNames = new Map(named.plans.map(({ id, name }) => [id, name]))
  const archived = new Set(named.plans.flatMap(({ id, state }) => (state === 'archived' ? id : [])))
  const explained = explainAsked([...catalog.byKey.keys()], holder, catalog, now)
  const all = Object.entries(explained).map(([key, { sources: from, ...one }]) => {
    return { ...one, key, name: nameOf.get(key) ?? key, isOnOff: catalog.byKey.get(key)?.type === 'boolean', from }
  })
  // What is mapped to no plan is among the sources of every feature.
  const isUnmapped = ({ type, plan }: Source) => type === 'subscription' && plan === null
  const plans = new Map(catalog.plans.map(({ id, key }) => [key, { id, name: planNames.get(id) ?? key }]))
  return {
    all: all.map((one) => ({ ...one, from: one.from.filter((source) => !isUnmapped(source)) })),
    plans,
    includedIn: (feature: string) => {
      const sold = catalog.plans.filter(({ id, features }) => Object.hasOwn(features, feature) && !archived.has(id))
      return sold.flatMap(({ key }) => plans.get(key) ?? [])
    },
    items: (all[0]?.from ?? []).filter(isUnmapped),
    slack: catalog.rules.renewal_slack_hours,
  }
}

/** What `decide` returns; null if there is too much for one answer. */
function unlessTooMuch<T>(decide: () => T): T | null {
  try {
    return decide()
  } catch (error) {
    if (error instanceof Fault && error.fault === 'payload_too_large') return null
    throw error
  }
}
