import { and, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/client'
import { planRefs, plans } from './schema'

/** A vendor's price or product. */
export type Price = { vendor: string; ref: string }
type PlanRow = ReturnType<typeof findPlan>['_']['result'][number]
type RefRow = ReturnType<typeof refsOf>['_']['result'][number]
/** A plan with its prices, in the order of their vendors and ids. */
export type Plan = PlanRow & { prices: Price[] }

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

/** Reads the plans of a project, newest first, starting after the plan `before`. */
export function listPlans(db: Db, projectId: string, { before, take }: { before: string | null; take: number }) {
  return db
    .select(shown)
    .from(plans)
    .where(and(eq(plans.project_id, projectId), before === null ? undefined : lt(plans.id, before)))
    .orderBy(desc(plans.id))
    .limit(take)
}

/**
 * Reads what is mapped to plans of a project, to one plan or to all. No index finds the prices of one plan: it would cost a
 * row for each price, and a project has at most some thousand of them.
 */
export function refsOf(db: Db, projectId: string, planId?: string) {
  return db
    .select({ vendor: planRefs.vendor, ref: planRefs.ref, plan_id: planRefs.plan_id })
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

/** Prices as rows of a subquery. */
export function pairsIn(prices: readonly Price[]): SQL {
  const list = JSON.stringify(prices.map(({ vendor, ref }) => [vendor, ref]))
  return sql`(SELECT value->>0 AS vendor, value->>1 AS ref FROM json_each(${list}))`
}

/** Plans with their prices. */
export function withPrices(rows: readonly PlanRow[], refs: readonly RefRow[]): Plan[] {
  return rows.map((row) => ({
    ...row,
    prices: refs.filter(({ plan_id }) => plan_id === row.id).map(({ vendor, ref }) => ({ vendor, ref })),
  }))
}
