import { and, desc, eq, inArray, lt, notInArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { fitsPage, json, valuesOf } from '../db/sql'
import { Fault } from '../lib/fault'
import { projects } from '../tenancy/schema'
import type { Again } from './lasting'
import { MAX_PLAN_PAGE_BYTES } from './limits'
import { planRefs, plans } from './schema'
import type { PlanFeatures } from './values'

export const mine = alias(planRefs, 'mine')
const other = alias(plans, 'other')

/** A plan of a project. */
export type PlanOf = { project_id: string; id: string }
/** A vendor's price or product. */
export type Price = { vendor: string; ref: string }
/** A price as a plan has it. `lasts`, `again`: of one-time payments, see lasting.ts. */
export type MappedPrice = Price & { lasts?: string | null | undefined; again?: Again | null | undefined }
type PlanRow = ReturnType<typeof findPlan>['_']['result'][number]
type RefRow = ReturnType<typeof mappedPrices>['_']['result'][number]
/** A plan with its prices, in the order of their vendors and ids. */
export type Plan = PlanRow & { prices: MappedPrice[] }

const shown = {
  id: plans.id,
  key: plans.key,
  name: plans.name,
  rank: plans.rank,
  state: plans.state,
  features: plans.features,
  revision: plans.revision,
  updated_at: plans.updated_at,
}

export function findPlan(db: Db, projectId: string, id: string) {
  return db
    .select(shown)
    .from(plans)
    .where(and(eq(plans.project_id, projectId), eq(plans.id, id)))
}

/**
 * Reads the plans of a project, newest first, starting after the plan `before`. Beyond {@link MAX_PLAN_PAGE_BYTES}, a plan is not
 * on the page: it has no `fits`, and nothing of what it gives is read.
 */
export function listPlans(db: Db, projectId: string, { before, take }: { before: string | null; take: number }) {
  const fits = fitsPage(sql`octet_length(${plans.features})`, MAX_PLAN_PAGE_BYTES, desc(plans.id))
  const features = sql<PlanFeatures>`iif(${fits}, ${plans.features}, '{}')`.mapWith(plans.features)
  return db
    .select({ ...shown, features: features.as('given'), fits: sql<boolean>`${fits}`.mapWith(Boolean).as('fits') })
    .from(plans)
    .where(and(eq(plans.project_id, projectId), before === null ? undefined : lt(plans.id, before)))
    .orderBy(desc(plans.id))
    .limit(take)
}

/** The plans of {@link listPlans} that are on the page, with their prices, and how many they are. */
export function plansOnPage(rows: readonly (PlanRow & { fits: boolean })[], refs: readonly RefRow[]) {
  return [
    withPrices(
      rows.map(({ fits: _, ...row }) => row),
      refs,
    ),
    rows.filter(({ fits }) => fits).length,
  ] as const
}

/** Whether a plan includes a feature. */
export function includesFeature(key: string): SQL {
  return sql`json_type(${plans.features}, ${`$.${JSON.stringify(key)}`}) IS NOT NULL`
}

/** A plan as {@link plansIncluding} reads it. */
export type PlanName = { id: string; name: string }

/** Reads the names of the plans that include a feature, newest first. */
export function plansIncluding(db: Db, projectId: string, feature: string) {
  return db
    .select({ id: plans.id, name: plans.name })
    .from(plans)
    .where(and(eq(plans.project_id, projectId), includesFeature(feature)))
    .orderBy(desc(plans.id))
}

/** Reads the names of the plans of a project, newest first, with the keys of the features that each gives. */
export function namePlans(db: Db, projectId: string) {
  const given = json<string[]>(sql`(SELECT json_group_array(j.key) FROM json_each(${plans.features}) j)`).as('given')
  return db
    .select({ id: plans.id, key: plans.key, name: plans.name, state: plans.state, given })
    .from(plans)
    .where(eq(plans.project_id, projectId))
    .orderBy(desc(plans.id))
}

/** A plan as {@link namePlans} reads it. */
export type NamedPlan = ReturnType<typeof namePlans>['_']['result'][number]

/** Reads the keys and names of a project's plans: active ones first, then archived ones, each newest first. */
export function callPlans(db: Db, projectId: string) {
  return db
    .select({ id: plans.id, key: plans.key, name: plans.name, state: plans.state })
    .from(plans)
    .where(eq(plans.project_id, projectId))
    .orderBy(plans.state, desc(plans.id))
}

/** A plan as {@link callPlans} reads it. */
export type CalledPlan = ReturnType<typeof callPlans>['_']['result'][number]

/** Reads the plans of a project that can be its default plan, newest first. */
export function activePlans(db: Db, projectId: string) {
  return db
    .select({ id: plans.id, name: plans.name })
    .from(plans)
    .where(and(eq(plans.project_id, projectId), eq(plans.state, 'active')))
    .orderBy(desc(plans.id))
}

/** A plan as {@link activePlans} reads it. */
export type ActivePlan = ReturnType<typeof activePlans>['_']['result'][number]

/** Bytes of what the plans of a project give, but for one of them, as an expression. */
export function bytesOfOthers({ project_id, id }: PlanOf): SQL {
  return sql`(SELECT coalesce(sum(octet_length(${other.features})), 0) FROM ${plans} ${other}
    WHERE ${other.project_id} = ${project_id} AND ${other.id} <> ${id})`
}

/**
 * Reads what is mapped to plans of a project, to one plan or to all. No index finds the prices of one plan: it would cost a
 * row for each price, and a project has at most some thousand of them.
 */
export function mappedPrices(db: Db, projectId: string, planId?: string) {
  return db
    .select({
      vendor: planRefs.vendor,
      ref: planRefs.ref,
      plan_id: planRefs.plan_id,
      lasts: planRefs.lasts,
      again: planRefs.again,
    })
    .from(planRefs)
    .where(and(eq(planRefs.project_id, projectId), planId === undefined ? undefined : eq(planRefs.plan_id, planId)))
    .orderBy(planRefs.vendor, planRefs.ref)
}

/** Reads which plans these prices are mapped to. */
export function plansOfPrices(db: Db, projectId: string, prices: readonly Price[]) {
  return db
    .select({ vendor: planRefs.vendor, ref: planRefs.ref, plan_id: plans.id, key: plans.key })
    .from(planRefs)
    .innerJoin(plans, and(eq(plans.project_id, planRefs.project_id), eq(plans.id, planRefs.plan_id)))
    .where(
      and(eq(planRefs.project_id, projectId), inArray(sql`(${planRefs.vendor}, ${planRefs.ref})`, pairsIn(prices))),
    )
}

/**
 * @param mapped what {@link plansOfPrices} read
 * @throws {Fault} `price_mapped` if another plan has one of the prices
 */
export function requireFree(
  mapped: readonly { vendor: string; ref: string; plan_id: string; key: string }[],
  id: string,
) {
  const other = mapped.find(({ plan_id }) => plan_id !== id)
  if (!other) return
  const detail = `${other.ref} of ${other.vendor} is mapped to the plan ${other.key}. Remove it from that plan first.`
  throw new Fault('price_mapped', detail)
}

/** Prices with how long they last, as rows of a subquery. A value that is not set is an empty text, so that rows can be compared. */
export function mappingsIn(prices: readonly MappedPrice[]): SQL {
  const list = JSON.stringify(prices.map(({ vendor, ref, lasts, again }) => [vendor, ref, lasts ?? '', again ?? '']))
  return sql`(SELECT value->>0 AS vendor, value->>1 AS ref, value->>2 AS lasts, value->>3 AS again FROM json_each(${list}))`
}

/** The columns of a mapping, to be compared with {@link mappingsIn}. */
export function mappingOf({ vendor, ref, lasts, again }: typeof planRefs | typeof mine): SQL {
  return sql`${vendor}, ${ref}, coalesce(${lasts}, ''), coalesce(${again}, '')`
}

/** Prices as rows of a subquery. */
export function pairsIn(prices: readonly Price[]): SQL {
  return pairsOf(JSON.stringify(prices.map(({ vendor, ref }) => [vendor, ref])))
}

/** As {@link pairsIn}. @param list the pairs of vendor and id as JSON */
export function pairsOf(list: string): SQL {
  return sql`(SELECT value->>0 AS vendor, value->>1 AS ref FROM json_each(${list}))`
}

/** Plans with their prices. */
export function withPrices(rows: readonly PlanRow[], refs: readonly RefRow[]): Plan[] {
  const byPlan = Map.groupBy(refs, ({ plan_id }) => plan_id)
  return rows.map((row) => ({
    ...row,
    prices: (byPlan.get(row.id) ?? []).map(({ vendor, ref, lasts, again }) => ({ vendor, ref, lasts, again })),
  }))
}

/** Removes the prices of a plan that are not among these, or not mapped in this way. */
export function refsRemoved(db: Db, { project_id, id }: PlanOf, prices: readonly MappedPrice[]) {
  return db
    .delete(planRefs)
    .where(
      and(
        eq(planRefs.project_id, project_id),
        eq(planRefs.plan_id, id),
        notInArray(sql`(${mappingOf(planRefs)})`, mappingsIn(prices)),
      ),
    )
}

/** Maps these prices to a plan, except the ones that it has already. The key refuses a price of another plan. */
export function refsAdded(db: Db, of: PlanOf, prices: readonly MappedPrice[]) {
  const wanted = sql`SELECT * FROM ${mappingsIn(prices)} EXCEPT
    SELECT ${mappingOf(mine)} FROM ${planRefs} ${mine} WHERE ${isMine(of)}`
  return insertFrom(
    db,
    planRefs,
    {
      project_id: plans.project_id,
      vendor: sql`w.vendor`,
      ref: sql`w.ref`,
      plan_id: plans.id,
      lasts: sql`nullif(w.lasts, '')`,
      again: sql`nullif(w.again, '')`,
    },
    sql`FROM ${plans} CROSS JOIN (SELECT * FROM (${wanted})) w WHERE ${isPlan(of)}`,
  )
}

export function isPlan({ project_id, id }: PlanOf): SQL | undefined {
  return and(eq(plans.project_id, project_id), eq(plans.id, id))
}

/** The project, if one of these plans is its default plan, as a subquery. */
export function defaultingTo(projectId: string, ids: readonly string[]): SQL {
  const isDefault = inArray(sql`${projects.settings} ->> 'default_plan'`, valuesOf(ids))
  return sql`(SELECT 1 FROM ${projects} WHERE ${projects.id} = ${projectId} AND ${isDefault})`
}

/** The refusal to archive a default plan. */
export function isDefaultPlan(): Fault {
  const detail = 'The plan is the default plan of the project. Change the setting default_plan first.'
  return new Fault('plan_is_default', detail)
}

/** Whether a plan can be the default plan of its project. */
export function isActivePlan(of: PlanOf): SQL {
  return sql`EXISTS (SELECT 1 FROM ${plans} WHERE ${and(isPlan(of), eq(plans.state, 'active'))})`
}

export function isMine({ project_id, id }: PlanOf): SQL | undefined {
  return and(eq(mine.project_id, project_id), eq(mine.plan_id, id))
}
