import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { billingObjects } from '../billing/schema'
import type { PlanFields } from '../catalog/change'
import { defaultingTo, mappedPrices, type Price, pairsIn } from '../catalog/plans'
import { planRefs } from '../catalog/schema'
import type { Combine } from '../catalog/values'
import { isLive } from '../consumers/grants'
import { consumerId, linksOf } from '../consumers/links'
import { consumers, grants } from '../consumers/schema'
import { batch, type Db, type Results, raw } from '../db/client'
import { valuesOf } from '../db/sql'
import type { FeatureFact, PlanFact } from './facts'
import { factsIn, lacking, readWhole, unlessTooMuch } from './holders'
import type { HeldKind } from './holdings'
import { MAX_PREVIEWED, MAX_WALKED } from './limits'
import { CLOCK, type Extent, type FeaturesAsked, factsOf, numbered } from './read'
import type { Rules } from './window'

const o = alias(billingObjects, 'o')
const g = alias(grants, 'g')
const k = alias(consumers, 'k')
const mine = alias(planRefs, 'mine')

/**
 * How far a preview has got: the last subscription that was walked, after all of them the last purchase, then the last grant, and of the
 * default plan then the last consumer.
 */
export type Place =
  | { of: HeldKind; id: string; vendor: string }
  | { of: 'grant'; consumer: string; id: string }
  | { of: 'consumer'; id: string }

/** Before the first consumer, and after everything else. */
const EVERYBODY: Place = { of: 'consumer', id: '' }

/** A subscription, a purchase, a grant or a consumer that the change concerns, or the last one of a walk. */
export type PreviewStep = {
  place: Place
  /** How many were walked up to this one. */
  nth: number
  /** Null if the change does not concern it, or if it is nobody's. */
  consumer: string | null
}

/**
 * A change of plans by their ids, of which some may be new, of how quantities are combined, by the keys of the features, and of settings.
 * `added`: features that are new.
 */
export type CatalogChange = {
  plans: ReadonlyMap<string, PlanChange>
  added: readonly FeatureFact[]
  combines: ReadonlyMap<string, Combine>
  rules: Partial<Rules>
}

/** Whether a change can make a difference for anybody. */
export function isForAny({ plans, combines, rules }: CatalogChange): boolean {
  return plans.size + combines.size > 0 || concernsAll(rules)
}

/** Whether settings change that decide what everybody may do. */
export function concernsAll(rules: Partial<Rules>): boolean {
  return Object.keys(rules).length > 0
}

/**
 * Walks the next part of what a change concerns: subscriptions and purchases with prices that the plans have or would have, then grants
 * of the plans, and if one of them is the default plan or a setting changes, everybody. A change that concerns no plan begins with that.
 */
export function walksOf(db: Db, projectId: string, change: CatalogChange, from: Place | null) {
  const ids = [...change.plans.keys()]
  const start = from ?? (ids.length + change.combines.size > 0 ? null : EVERYBODY)
  const prices = [...change.plans.values()].flatMap((plan) => plan.prices ?? [])
  const of = { project_id: projectId, ids }
  return {
    subscriptions: walkHoldings(db, of, 'subscription', { prices, start }),
    purchases: walkHoldings(db, of, 'purchase', { prices, start }),
    granted: walkGrants(db, of, [...change.combines.keys()], start),
    everybody: walkConsumers(db, of, concernsAll(change.rules), start),
  }
}

/**
 * Reads all facts about the consumers whom a walk found.
 *
 * @param keys the features that can become different; null for all, as a price that moves brings the features of another plan
 * @param rules the settings that change
 * @returns `more`: whether there is something after the last step; and what {@link factsAbout} returns
 */
export async function readConcerned(
  db: Db,
  projectId: string,
  walked: Walked,
  { keys, rules }: { keys: readonly string[] | null; rules: Partial<Rules> },
) {
  const { steps, more } = stepsIn(walked)
  const asked = { keys, reversed: rules.subscription_reversed === 'end' }
  const read = await factsAbout(db, projectId, steps, asked)
  return { ...read, more: more || read.steps.length < steps.length }
}

/**
 * The features that a change makes the plan give in another way, or with another precedence. If no price moves, nothing else can
 * become different for anybody.
 */
export function alteredBy(
  plan: PlanFact,
  { key = plan.key, rank = plan.rank, features = plan.features }: PlanChange,
): string[] {
  const keys = Object.keys({ ...plan.features, ...features })
  if (key !== plan.key || rank !== plan.rank) return keys
  return keys.filter((one) => JSON.stringify(plan.features[one]) !== JSON.stringify(features[one]))
}

/**
 * Reads the facts about the consumers of these steps. If one call cannot look at all of them, it tries the first half, and so on. The
 * rest is left to the next call. If the first consumer alone has too much, it is left out: a check refuses it too.
 *
 * @returns `facts`: reads the large ones among them; `bytes`: how many bytes these have
 */
async function factsAbout(db: Db, projectId: string, all: readonly PreviewStep[], asked: FeaturesAsked) {
  const concerned = [...new Set(all.map(({ consumer }) => consumer).filter((id) => id !== null))]
  for (let most = Math.min(concerned.length, MAX_PREVIEWED); ; most = Math.floor(most / 2)) {
    const consumers = concerned.slice(0, most)
    const refs = consumers.map((id) => ({ id }))
    const read = (extent: Extent) =>
      batch(db, {
        // A price that moves may be the first one by which purchases give something.
        ...factsOf(db, projectId, refs, { ...asked, named: true, explained: asked.keys === null, ...extent }),
        refs: mappedPrices(db, projectId),
      })
    const found = await read({})
    if (unlessTooMuch(() => factsIn(found, refs.length))) {
      const leftOut = most === 0 ? concerned.slice(0, 1) : []
      const done = new Set([null, ...leftOut, ...consumers])
      const facts = async () => {
        const all = await readWhole(found, read)
        return { ...factsIn(all, refs.length), refs: all.refs }
      }
      return { facts, bytes: lacking(found)?.bytes ?? 0, steps: stepsUntil(all, (id) => !done.has(id)) }
    }
  }
}

/** The steps before the first one of a consumer that is left to the next call. */
export function stepsUntil(all: readonly PreviewStep[], isLeft: (consumer: string | null) => boolean): PreviewStep[] {
  const next = all.findIndex(({ consumer }) => isLeft(consumer))
  return all.slice(0, next < 0 ? all.length : next)
}

/** Plans of a project, or to be. */
type PlansOf = { project_id: string; ids: readonly string[] }

/** Walks subscriptions, or purchases, in the order of their keys. The prices of the plans concern them, and these. */
function walkHoldings(
  db: Db,
  { project_id, ids }: PlansOf,
  kind: HeldKind,
  { prices, start }: { prices: readonly Price[]; start: Place | null },
) {
  const touched = sql`SELECT ${mine.vendor}, ${mine.ref} FROM ${planRefs} ${mine}
    WHERE ${and(eq(mine.project_id, project_id), inArray(mine.plan_id, valuesOf(ids)))} UNION SELECT * FROM ${pairsIn(prices)}`
  const has = (part: string) => sql`(${o.vendor}, i.value->>${sql.raw(`'${part}'`)}) IN touched`
  const after = start?.of === kind ? sql`(${o.vendor_id}, ${o.vendor}) > (${start.id}, ${start.vendor})` : sql`1`
  const walk = sql`WITH touched(vendor, ref) AS MATERIALIZED (${touched})
    SELECT ${o.vendor_id} AS id, ${o.vendor} AS vendor, ${o.customer} AS customer,
      EXISTS (SELECT 1 FROM json_each(${o.candidates}, '$[0].body.items') i WHERE ${has('price')} OR ${has('variant')} OR ${has('product')}) AS counts
    FROM ${billingObjects} ${o} INDEXED BY billing_key
    WHERE ${o.project_id} = ${project_id} AND ${o.kind} = ${kind} AND ${after}
    ORDER BY ${o.vendor_id}, ${o.vendor} LIMIT ${isPast(start, kind) ? 0 : MAX_WALKED}`
  const shown = {
    id: sql<string>`w.id`,
    vendor: sql<string>`w.vendor`,
    nth: sql<number>`w.nth`,
    consumer: sql<string | null>`CASE WHEN w.counts THEN ${consumerId} END`,
  }
  return raw(
    db,
    shown,
    (fields) => sql`${linksOf(project_id, fields, numbered(walk, sql`id, vendor`))}
      WHERE w.counts OR w.is_last ORDER BY w.nth LIMIT ${MAX_PREVIEWED + 1}`,
  )
}

/** Whether a call starts after everything of a kind. */
function isPast(start: Place | null, kind: Place['of']): boolean {
  const order: Place['of'][] = ['subscription', 'purchase', 'grant', 'consumer']
  return start !== null && order.indexOf(start.of) > order.indexOf(kind)
}

/** Walks grants in the order of their keys: those of the plans, and of these features. */
function walkGrants(db: Db, { project_id, ids }: PlansOf, features: readonly string[], start: Place | null) {
  const after = start?.of === 'grant' ? sql`(${g.consumer_id}, ${g.id}) > (${start.consumer}, ${start.id})` : sql`1`
  const isOf = or(inArray(g.plan_id, valuesOf(ids)), inArray(g.feature, valuesOf(features)))
  const counts = and(isOf, isLive(g, CLOCK))
  const walk = sql`SELECT ${g.consumer_id} AS consumer, ${g.id} AS id, coalesce(${counts}, 0) AS counts FROM ${grants} ${g} NOT INDEXED
    WHERE ${g.project_id} = ${project_id} AND ${after} ORDER BY ${g.consumer_id}, ${g.id} LIMIT ${isPast(start, 'grant') ? 0 : MAX_WALKED}`
  const shown = {
    consumer: sql<string>`w.consumer`,
    id: sql<string>`w.id`,
    nth: sql<number>`w.nth`,
    counts: sql<boolean>`w.counts`.mapWith(Boolean),
  }
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${numbered(walk, sql`consumer, id`)}) w
      WHERE w.counts OR w.is_last ORDER BY w.nth LIMIT ${MAX_PREVIEWED + 1}`,
  )
}

/** Walks the consumers of a project in the order of their ids: all of them, or those of one whose default plan is among these. */
function walkConsumers(db: Db, of: PlansOf, all: boolean, start: Place | null) {
  const isWalked = all ? sql`1` : sql`EXISTS ${defaultingTo(of.project_id, of.ids)}`
  const after = start?.of === 'consumer' ? sql`${k.id} > ${start.id}` : sql`1`
  const walk = sql`SELECT ${k.id} AS id, ${k.state} = 'active' AS counts FROM ${consumers} ${k} NOT INDEXED
    WHERE ${k.project_id} = ${of.project_id} AND ${after} ORDER BY ${k.id} LIMIT iif(${isWalked}, ${MAX_WALKED}, 0)`
  const shown = { id: sql<string>`w.id`, nth: sql<number>`w.nth`, counts: sql<boolean>`w.counts`.mapWith(Boolean) }
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${numbered(walk, sql`id`)}) w
      WHERE w.counts OR w.is_last ORDER BY w.nth LIMIT ${MAX_PREVIEWED + 1}`,
  )
}

type Holdings = ReturnType<typeof walkHoldings>
type Walked = Results<{
  subscriptions: Holdings
  purchases: Holdings
  granted: ReturnType<typeof walkGrants>
  everybody: ReturnType<typeof walkConsumers>
}>

/** What was walked, in order: purchases only when all subscriptions have been, grants only after those, and consumers at last. */
function stepsIn({ subscriptions, purchases, granted, everybody }: Walked): { steps: PreviewStep[]; more: boolean } {
  const steps: PreviewStep[] = []
  for (const [of, walked] of [
    ['subscription', subscriptions],
    ['purchase', purchases],
  ] as const) {
    steps.push(...walked.map(({ id, vendor, ...rest }): PreviewStep => ({ ...rest, place: { of, id, vendor } })))
    if (isCut(walked)) return { steps, more: true }
  }
  const byGrant = granted.map(
    ({ id, consumer, counts, nth }): PreviewStep => ({
      place: { of: 'grant', consumer, id },
      nth,
      consumer: counts ? consumer : null,
    }),
  )
  steps.push(...byGrant)
  if (isCut(granted)) return { steps, more: true }
  const byDefault = everybody.map(
    ({ id, counts, nth }): PreviewStep => ({ place: { of: 'consumer', id }, nth, consumer: counts ? id : null }),
  )
  return { steps: [...steps, ...byDefault], more: isCut(everybody) }
}

/** Whether a walk ended at its limit. */
function isCut(rows: readonly { nth: number }[]): boolean {
  return rows.length > MAX_PREVIEWED || rows.at(-1)?.nth === MAX_WALKED
}

/** What of a plan's change can make a difference. What is left out stays as it is. */
export type PlanChange = Partial<Pick<PlanFields, 'key' | 'rank' | 'features' | 'prices'>>
