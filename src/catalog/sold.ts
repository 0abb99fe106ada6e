import { and, type Column, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { saidBy } from '../billing/overdue/overdue'
import type { OnItems } from '../billing/read/filters'
import { billingObjects } from '../billing/schema'
import { type Db, raw } from '../db/client'
import { fitsPage, json } from '../db/sql'
import { vendorPrices } from '../inbox/imports/schema'
import { MAX_SUBSCRIPTION_BYTES, MAX_UNMAPPED, NEWEST_SUBSCRIPTIONS } from './limits'
import { planRefs, plans } from './schema'

const o = alias(billingObjects, 'o')
const r = alias(planRefs, 'r')
const v = alias(vendorPrices, 'v')

/**
 * The plan that an item of an object is for, as an expression over the item as JSON: the plan of its price, else of its variant, else of its
 * product. NULL if no plan has any of them.
 */
function planOfItem(projectId: string, vendor: SQL | Column, item: SQL): SQL {
  const planOf = (field: string) => sql`(SELECT ${r.plan_id} FROM ${planRefs} ${r}
    WHERE ${r.project_id} = ${projectId} AND ${r.vendor} = ${vendor} AND ${r.ref} = ${item} ->> ${sql.raw(`'$.${field}'`)})`
  return sql`coalesce(${planOf('price')}, ${planOf('variant')}, ${planOf('product')})`
}

/** Which objects have an item that is for a plan. @param plan its id or its key; none has an item of an unknown plan */
export function hasItemOf(projectId: string, plan: string): OnItems {
  // A key may look like the id of another plan.
  const named = sql`(SELECT ${plans.id} FROM ${plans}
    WHERE ${and(eq(plans.project_id, projectId), or(eq(plans.id, plan), eq(plans.key, plan)))} ORDER BY ${plans.id} = ${plan} DESC LIMIT 1)`
  return ({ vendor, candidates }) => sql`EXISTS (SELECT 1 FROM json_each(${candidates}, '$[0].body.items') i
    WHERE ${planOfItem(projectId, vendor, sql`i.value`)} = ${named})`
}

/** The objects of a kind that changed last, each with its size. */
const newestOf = (projectId: string, kind: 'subscription' | 'purchase') => sql`SELECT * FROM (
    SELECT ${o.kind} AS kind, ${o.vendor} AS vendor, ${o.vendor_id} AS id, ${o.updated} AS updated, octet_length(${o.candidates}) AS bytes
    FROM ${billingObjects} ${o} INDEXED BY billing_changed
    WHERE ${o.project_id} = ${projectId} AND ${o.kind} = ${kind} AND ${o.updated} IS NOT NULL
    ORDER BY ${o.updated} DESC LIMIT ${NEWEST_SUBSCRIPTIONS})`

/**
 * A price, or a product without a price, of items. `n`, `bought`: how many subscriptions and purchases have it. `name`, `product_name` and `active` are
 * the vendor's, if an import has read the price; otherwise `name` is what the items say.
 */
export type Unmapped = ReturnType<typeof unmappedPrices>['_']['result'][number]

/**
 * Reads what the subscriptions and the purchases that changed last are for, and no plan has: up to one more than {@link MAX_UNMAPPED}, the
 * most frequent first. Older ones are not looked at: see {@link NEWEST_SUBSCRIPTIONS} and {@link MAX_SUBSCRIPTION_BYTES}.
 */
export function unmappedPrices(db: Db, projectId: string) {
  const shown = {
    vendor: sql<string>`seen.vendor`,
    price: sql<string | null>`coalesce(seen.price, seen.variant)`,
    product: sql<string | null>`coalesce(seen.product, ${v.product})`,
    name: sql<string | null>`coalesce(${v.name}, seen.name)`,
    product_name: v.product_name,
    active: v.active,
    n: sql<number>`n`,
    bought: sql<number>`bought`,
  }
  const newest = sql`${newestOf(projectId, 'subscription')} UNION ALL ${newestOf(projectId, 'purchase')}`
  const fits = fitsPage(sql`bytes`, MAX_SUBSCRIPTION_BYTES, sql`updated DESC`)
  // The window keeps what it adds up, so the subscriptions themselves are read after it.
  const own = sql`${o.project_id} = ${projectId} AND ${o.kind} = s.kind AND ${o.vendor_id} = s.id AND ${o.vendor} = s.vendor`
  const of = (kind: string) => sql`count(DISTINCT iif(s.kind = ${kind}, s.id, NULL))`
  const seen = sql`SELECT s.vendor, i.value->>'price' AS price, i.value->>'variant' AS variant, i.value->>'product' AS product,
      max(coalesce(i.value->>'price_name', i.value->>'description')) AS name, ${of('subscription')} AS n, ${of('purchase')} AS bought
    FROM (SELECT kind, vendor, id, ${fits} AS fits FROM (${newest})) s CROSS JOIN ${billingObjects} ${o} ON s.fits AND ${own}
      CROSS JOIN json_each(${o.candidates}, '$[0].body.items') i GROUP BY 1, 2, 3, 4`
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${seen}) seen
      LEFT JOIN ${vendorPrices} ${v} ON ${v.project_id} = ${projectId} AND ${v.vendor} = seen.vendor AND ${v.ref} = seen.price
      WHERE coalesce(seen.price, seen.variant, seen.product) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${planRefs} ${r}
        WHERE ${r.project_id} = ${projectId} AND ${r.vendor} = seen.vendor AND ${r.ref} IN (seen.price, seen.variant, seen.product))
      ORDER BY n + bought DESC, seen.vendor, seen.price, seen.product LIMIT ${MAX_UNMAPPED + 1}`,
  )
}

/** Statuses of a subscription that has begun and is not over. */
const STANDING = ['active', 'trialing', 'past_due']

/** How many subscriptions that are active, trialing or past due have a price of a plan. Those whose mode is not known are live. */
export type PlanCount = { plan: string; live: number; test: number }

/**
 * Counts the subscriptions of each plan among those that changed last: see {@link NEWEST_SUBSCRIPTIONS} and {@link MAX_SUBSCRIPTION_BYTES}.
 * `complete`: whether the project has no others. A plan that none has is missing. Grants and one-time payments are not counted.
 */
export function countByPlan(db: Db, projectId: string) {
  const fits = fitsPage(sql`bytes`, MAX_SUBSCRIPTION_BYTES, sql`updated DESC`)
  const newest = sql`SELECT vendor, id, ${fits} AS fits FROM (${newestOf(projectId, 'subscription')})`
  const own = sql`${o.project_id} = ${projectId} AND ${o.kind} = 'subscription' AND ${o.vendor_id} = s.id AND ${o.vendor} = s.vendor`
  const each = sql`SELECT DISTINCT s.vendor, s.id, ${planOfItem(projectId, sql`s.vendor`, sql`i.value`)} AS plan,
      coalesce(${saidBy(o, 'livemode')}, 1) AS live
    FROM newest s CROSS JOIN ${billingObjects} ${o} ON s.fits AND ${own} AND ${inArray(o.status, STANDING)}
      CROSS JOIN json_each(${o.candidates}, '$[0].body.items') i`
  const byPlan = sql`SELECT plan, sum(live) AS live, sum(1 - live) AS test FROM (${each}) WHERE plan IS NOT NULL GROUP BY plan`
  const shown = {
    complete: sql<boolean>`(SELECT count(*) < ${NEWEST_SUBSCRIPTIONS} AND coalesce(min(fits), 1) FROM newest)`.mapWith(
      Boolean,
    ),
    plans: json<PlanCount[]>(
      sql`(SELECT json_group_array(json_object('plan', plan, 'live', live, 'test', test)) FROM (${byPlan}))`,
    ),
  }
  return raw(db, shown, (fields) => sql`WITH newest AS MATERIALIZED (${newest}) SELECT ${fields}`)
}
