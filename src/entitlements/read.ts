import { and, eq, gt, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { billingObjects } from '../billing/schema'
import { featuresAmong, listFeatures } from '../catalog/features'
import type { Again } from '../catalog/lasting'
import { MAX_CONFIG_BYTES } from '../catalog/limits'
import { planRefs, plans } from '../catalog/schema'
import type { PlanFeatures } from '../catalog/values'
import type { ConsumerRef } from '../consumers/ref'
import { consumerIds, consumers, customerLinks, grants } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { json, valuesOf } from '../db/sql'
import { CATALOG_KEY } from '../lib/catalog-key'
import { idFloor } from '../lib/ids'
import { projects } from '../tenancy/schema'
import type { Json } from '../vendors/lib/json'
import type { Item } from './facts'
import {
  MAX_ASKED_FEATURES,
  MAX_EXPIRED,
  MAX_SMALL_PLAN,
  MAX_SMALL_VALUE,
  MAX_SOURCES,
  MAX_SUBSCRIPTION_ITEMS,
} from './limits'

const k = alias(consumers, 'k')
const x = alias(consumerIds, 'x')
const l = alias(customerLinks, 'l')
const b = alias(billingObjects, 'b')
/** What of {@link b} a call reads. */
const o = alias(billingObjects, 'o')
const g = alias(grants, 'g')
const r = alias(planRefs, 'r')
const p = alias(plans, 'p')

/**
 * The consumers that are asked about, as `a`: each with its place in the list as `a.key`, and the id of the consumer.
 *
 * @param list a JSON list of {@link ConsumerRef}
 */
function asked(projectId: string, list: SQL) {
  const byName = sql`(SELECT ${x.consumer_id} FROM ${consumerIds} ${x}
    WHERE ${x.project_id} = ${projectId} AND ${x.external_id} = a.value->>'external_id')`
  return { from: sql`json_each(${list}) a`, id: sql`coalesce(a.value->>'id', ${byName})` }
}

/**
 * How much is read of what plans and grants give: what is small, and all that these plans and the grants give. Without it, `lacking` of
 * holders.ts says what else is needed.
 */
export type Extent = { plans?: readonly string[] }
/** What is read of the features. `keys`: null for all of them. */
export type FeaturesAsked = Extent & {
  keys: readonly string[] | null
  /** Whether purchases are read also if no plan says how long a one-time payment lasts, so that they give nothing. */
  explained?: boolean | undefined
}

/**
 * The statements that read everything that entitlements are derived from, for one batch. Their number does not depend on how
 * many consumers there are, and each walks indexes.
 *
 * @param refs null for a name that no consumer can have
 */
export function factsOf(db: Db, projectId: string, refs: readonly (ConsumerRef | null)[], asked: FeaturesAsked) {
  return factsOfList(db, projectId, sql`${JSON.stringify(refs.map((ref) => ref ?? {}))}`, asked)
}

/** As {@link factsOf}, about one consumer. @param id an expression; NULL: no consumer */
export function factsOfId(db: Db, projectId: string, id: SQL, asked: FeaturesAsked) {
  return factsOfList(db, projectId, sql`json_array(json_object('id', ${id}))`, asked)
}

function factsOfList(db: Db, projectId: string, list: SQL, asked: FeaturesAsked) {
  const { keys } = asked
  return {
    project: db
      .select({ settings: projects.settings, now: CLOCK.as('now') })
      .from(projects)
      .where(eq(projects.id, projectId)),
    who: whoIs(db, projectId, list),
    holdings: holdingsOf(db, projectId, list, { all: asked.explained === true }),
    grants: grantsOf(db, projectId, list, { whole: asked.plans !== undefined }),
    features: keys === null ? listFeatures(db, projectId) : featuresAmong(db, projectId, keys),
    plans: plansOf(db, projectId, asked),
  }
}

/** The plans, each with what it gives of the features and the bytes of that. `features`: null where it is not read. */
function plansOf(db: Db, projectId: string, { keys, plans: ids = [] }: FeaturesAsked) {
  const [given, inText] = keys !== null && keys.length <= MAX_ASKED_FEATURES ? [among(keys), ofParts] : [WHOLE, ofWhole]
  const shown = {
    id: p.id,
    key: p.key,
    rank: p.rank,
    features:
      sql<PlanFeatures | null>`iif(bytes <= ${MAX_SMALL_PLAN} OR ${inArray(p.id, valuesOf(ids))}, given, NULL)`.mapWith(
        inText,
      ),
    bytes: sql<number>`bytes`,
  }
  const all = sql`SELECT *, octet_length(given) AS bytes FROM (
    SELECT ${plans.id}, ${plans.key}, ${plans.rank}, ${given} AS given FROM ${plans} WHERE ${plans.project_id} = ${projectId})`
  return raw(db, shown, (fields) => sql`SELECT ${fields} FROM (${all}) ${p}`)
}

/** The primary's time (ms), so that answers can be put in order whatever machine gave them. */
export const CLOCK = sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`

const WHOLE = sql`${plans.features}`
const ofWhole = (text: string) => JSON.parse(text) as PlanFeatures

/** Pairs that one call of json_object takes: D1 allows 32 arguments. */
const PAIRS = 16

/** The features of a plan that are asked about. Each is looked up by itself: json_each would count a row for all of them. */
function among(keys: readonly string[]) {
  const pairs = keys
    .filter((key) => CATALOG_KEY.test(key))
    .map((key) => sql`${key}, ${plans.features} -> ${`$."${key}"`}`)
  const parts = Array.from({ length: Math.ceil(pairs.length / PAIRS) }, (_, part) =>
    pairs.slice(part * PAIRS, (part + 1) * PAIRS),
  )
  const objects = parts.map((part) => sql`json_object(${sql.join(part, sql`, `)})`)
  return sql`json_array(${sql.join(objects, sql`, `)})`
}

/** What a plan gives, as {@link among} has it. */
function ofParts(text: string): PlanFeatures {
  const parts = JSON.parse(text) as Record<string, unknown>[]
  return Object.fromEntries(parts.flatMap(Object.entries).filter(([, value]) => value !== null))
}

function whoIs(db: Db, projectId: string, list: SQL) {
  const { from, id } = asked(projectId, list)
  return raw(
    db,
    { place: PLACE, id: k.id, state: k.state },
    (fields) =>
      sql`SELECT ${fields} FROM ${from} CROSS JOIN ${consumers} ${k} ON ${k.project_id} = ${projectId} AND ${k.id} = ${id}`,
  )
}

const PLACE = sql<number>`a.key`

/** A field of the state that speaks for the subscription. */
const field = (name: string) => sql`${b.candidates}->>${sql.raw(`'$[0].body.${name}'`)} AS ${sql.raw(name)}`

/** What something of an item is mapped to: the plan, and how long a one-time payment of it lasts. */
function mappingOfPart(projectId: string, part: 'price' | 'variant' | 'product'): SQL {
  return sql`(SELECT json_array(${r.plan_id}, ${r.lasts}, ${r.again}) FROM ${planRefs} ${r} WHERE ${r.project_id} = ${projectId} AND ${r.vendor} = ${o.vendor}
    AND ${r.ref} = i.value->>${sql.raw(`'${part}'`)})`
}

/** The kinds of objects that plans come from. */
const KINDS_HELD = ['subscription', 'purchase'] as const
export type HeldKind = (typeof KINDS_HELD)[number]

/**
 * The subscriptions and purchases of consumers: asked → external ids → links → objects, each by its index. Two links can name one
 * customer of two vendors, so the vendor is compared too. A row for each item, so that a limit
 * bounds what a call reads. What an object says of itself is read once, not for each item: its state can have 40 KB.
 *
 * @param how.all also purchases of a project where no one-time payment gives anything
 */
export function holdingsOf(db: Db, projectId: string, list: SQL, { all }: { all: boolean }) {
  const { from, id } = asked(projectId, list)
  const mapped = sql`coalesce(${mappingOfPart(projectId, 'price')}, ${mappingOfPart(projectId, 'variant')}, ${mappingOfPart(projectId, 'product')})`
  const item = sql`CASE WHEN i.key IS NOT NULL THEN json_object('price', i.value->>'price', 'variant', i.value->>'variant',
    'product', i.value->>'product', 'quantity', i.value->'quantity', 'returned', i.value->'quantity_returned', 'mapped', json(${mapped})) END`
  // With its refunds and disputes, a purchase is read once.
  const first = (name: string) => json<Json[] | null>(sql`iif(coalesce(i.key, 0) = 0, ${sql.raw(`o.${name}`)}, NULL)`)
  const shown = {
    place: sql<number>`o.place`,
    kind: sql<HeldKind>`o.kind`,
    vendor: o.vendor,
    id: o.vendor_id,
    customer: o.customer,
    status: o.status,
    ambiguous: o.ambiguous,
    past_due_period: o.past_due_period,
    past_due_since: o.past_due_since,
    event_id: sql<string>`o.event_id`,
    livemode: sql<number | null>`o.livemode`,
    period_start: sql<string | null>`o.current_period_start`,
    period_end: sql<string | null>`o.current_period_end`,
    cancel_at: sql<string | null>`o.cancel_at`,
    cancel_at_period_end: sql<number | null>`o.cancel_at_period_end`,
    updated_at: sql<string | null>`o.updated_at`,
    paid_at: sql<string | null>`o.paid_at`,
    refunds: first('refunds'),
    disputes: first('disputes'),
    item: json<ReadItem | null>(item),
  }
  const { vendor, vendor_id, customer, status, ambiguous, past_due_period, past_due_since } = b
  const said = [
    'livemode',
    'current_period_start',
    'current_period_end',
    'cancel_at',
    'cancel_at_period_end',
    'updated_at',
    'paid_at',
  ]
  const lasting = sql`EXISTS (SELECT 1 FROM ${planRefs} ${r} INDEXED BY plan_refs_lasting WHERE ${r.project_id} = ${projectId} AND ${r.lasts} IS NOT NULL)`
  const own = [
    b.kind,
    vendor,
    vendor_id,
    customer,
    status,
    ambiguous,
    past_due_period,
    past_due_since,
    ...said.map(field),
  ]
  return raw(
    db,
    shown,
    (
      fields,
    ) => sql`WITH kinds(kind) AS MATERIALIZED (SELECT ${KINDS_HELD[0]} UNION ALL SELECT ${KINDS_HELD[1]} WHERE ${all ? sql`1` : lasting}),
      c AS MATERIALIZED (SELECT a.key AS place, ${id} AS id FROM ${from}),
      own AS MATERIALIZED (
        SELECT c.place, ${l.customer} AS customer, ${l.vendor} AS vendor FROM c
          CROSS JOIN ${consumerIds} ${x} INDEXED BY consumer_ids_consumer
            ON ${x.project_id} = ${projectId} AND ${x.consumer_id} = c.id
          CROSS JOIN ${customerLinks} ${l} INDEXED BY customer_links_ref
            ON ${l.project_id} = ${projectId} AND ${l.ref} IS NOT NULL AND ${l.ref} = ${x.external_id}
        UNION ALL
        SELECT c.place, ${l.customer}, ${l.vendor} FROM c
          CROSS JOIN ${customerLinks} ${l} INDEXED BY customer_links_pinned
            ON ${l.project_id} = ${projectId} AND ${l.pinned} IS NOT NULL AND ${l.pinned} = c.id)
      SELECT ${fields} FROM (
        SELECT own.place, ${sql.join(own, sql`, `)}, ${b.candidates}->>'$[0].event_id' AS event_id, ${b.candidates}->'$[0].body.items' AS items,
            ${b.candidates}->'$[0].body.refunds' AS refunds, ${b.candidates}->'$[0].body.disputes' AS disputes
          FROM own CROSS JOIN kinds CROSS JOIN ${billingObjects} ${b} INDEXED BY billing_customer
            ON ${b.project_id} = ${projectId} AND ${b.kind} = kinds.kind AND ${b.customer} IS NOT NULL
              AND ${b.customer} = own.customer AND ${b.vendor} = own.vendor
          LIMIT ${MAX_SOURCES + 1}) o
      LEFT JOIN json_each(o.items) i LIMIT ${MAX_SUBSCRIPTION_ITEMS + 1}`,
  )
}

/**
 * The grants of consumers that were not revoked; of those that have expired, the newest: see {@link MAX_EXPIRED}.
 *
 * @param how.at the time as of which (ms); undefined for now
 * @param how.whole whether long values are read too. Without them, `bytes` is how many are lacking
 */
export function grantsOf(db: Db, projectId: string, list: SQL, { at, whole }: { at?: number; whole: boolean }) {
  const { from, id } = asked(projectId, list)
  const { feature, plan_id, effect, value, starts_at, expires_at } = g
  const isOver = sql`coalesce(${expires_at} <= ${at ?? CLOCK}, 0)`
  const isMade =
    at === undefined
      ? isNull(g.revoked_at)
      : and(lt(g.id, idFloor('grt', at + 1)), or(isNull(g.revoked_at), gt(g.revoked_at, at)))
  const nth = sql`row_number() OVER (PARTITION BY place, is_over, ${feature}, ${plan_id}, ${effect} ORDER BY ${g.id} DESC)`
  // The value of an expired grant only says whether it was 0.
  const most = whole ? sql`iif(is_over, ${MAX_SMALL_VALUE}, ${MAX_CONFIG_BYTES})` : sql`${MAX_SMALL_VALUE}`
  const isRead = sql`coalesce(octet_length(${value}), 0) <= ${most}`
  const shown = {
    place: sql<number>`place`,
    id: g.id,
    feature,
    plan_id,
    effect,
    starts_at,
    expires_at,
    value: sql`iif(${isRead}, ${value}, NULL)`.mapWith(value),
    bytes: sql<number>`iif(${isRead} OR is_over, 0, octet_length(${value}))`,
  }
  const found = sql`SELECT ${PLACE} AS place, g.*, ${isOver} AS is_over FROM ${from}
    CROSS JOIN ${grants} ${g} NOT INDEXED
      ON ${and(eq(g.project_id, projectId), eq(g.consumer_id, id), isMade)}`
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (SELECT *, ${nth} AS nth FROM (${found}) g) g
      WHERE NOT is_over OR nth <= ${MAX_EXPIRED} ORDER BY ${g.id} LIMIT ${MAX_SOURCES + 1}`,
  )
}

/** An item as it is read. `returned`: how many of it came back. `mapped`: its plan, how long that lasts, and what a second payment does. */
type ReadItem = Pick<Item, 'price' | 'variant' | 'product' | 'quantity'> & {
  returned: number | null
  mapped: [plan_id: string, lasts: string | null, again: Again | null] | null
}

/** A row of {@link holdingsOf}. */
export type ItemRow = ReturnType<typeof holdingsOf>['_']['result'][number]

/** The rows of a walk, each with its number as `nth`, and whether it is the last one as `is_last`. */
export function numbered(walk: SQL, order: SQL): SQL {
  return sql`SELECT *, row_number() OVER by_key AS nth, lead(1, 1, 0) OVER by_key = 0 AS is_last
    FROM (${walk}) WINDOW by_key AS (ORDER BY ${order})`
}
