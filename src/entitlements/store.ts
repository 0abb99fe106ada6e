import { and, eq, gt, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { nanoseconds } from '../billing/reduce'
import { billingObjects } from '../billing/schema'
import { featuresAmong, listFeatures } from '../catalog/features-store'
import { planRefs, plans } from '../catalog/schema'
import type { PlanFeatures } from '../catalog/values'
import type { ConsumerRef } from '../consumers/ref'
import { consumerIds, consumers, customerLinks, grants } from '../consumers/schema'
import { type Db, type Results, raw } from '../db/client'
import { json } from '../db/sql'
import { KEY } from '../lib/catalog-key'
import { Fault } from '../lib/fault'
import { idFloor } from '../lib/ids'
import { projects } from '../tenancy/schema'
import { settingsOf } from '../tenancy/settings'
import type { Catalog, Holder, Item, Subscription } from './facts'
import { MAX_ASKED_FEATURES, MAX_EXPIRED, MAX_ITEMS, MAX_SOURCES } from './limits'

const k = alias(consumers, 'k')
const x = alias(consumerIds, 'x')
const l = alias(customerLinks, 'l')
const o = alias(billingObjects, 'o')
const g = alias(grants, 'g')
const r = alias(planRefs, 'r')

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
 * The statements that read everything that entitlements are derived from, for one batch. Their number does not depend on how
 * many consumers there are, and each walks indexes.
 *
 * @param refs null for a name that no consumer can have
 * @param keys of the features; null for all
 */
export function factsOf(
  db: Db,
  projectId: string,
  refs: readonly (ConsumerRef | null)[],
  keys: readonly string[] | null,
) {
  return factsOfList(db, projectId, sql`${JSON.stringify(refs.map((ref) => ref ?? {}))}`, keys)
}

/** As {@link factsOf}, about one consumer. @param id an expression; NULL: no consumer */
export function factsOfId(db: Db, projectId: string, id: SQL, keys: readonly string[] | null) {
  return factsOfList(db, projectId, sql`json_array(json_object('id', ${id}))`, keys)
}

function factsOfList(db: Db, projectId: string, list: SQL, keys: readonly string[] | null) {
  return {
    project: db
      .select({ settings: projects.settings, now: CLOCK.as('now') })
      .from(projects)
      .where(eq(projects.id, projectId)),
    who: whoIs(db, projectId, list),
    subscriptions: subscriptionsOf(db, projectId, list),
    grants: grantsOf(db, projectId, list),
    features: keys === null ? listFeatures(db, projectId) : featuresAmong(db, projectId, keys),
    plans: db
      .select({
        id: plans.id,
        key: plans.key,
        rank: plans.rank,
        features: (keys !== null && keys.length <= MAX_ASKED_FEATURES ? among(keys) : ALL_FEATURES).as('features'),
      })
      .from(plans)
      .where(eq(plans.project_id, projectId)),
  }
}

/** The primary's time (ms), so that answers can be put in order whatever machine gave them. */
export const CLOCK = sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`

const ALL_FEATURES = sql<PlanFeatures>`${plans.features}`.mapWith(plans.features)

/** Pairs that one call of json_object takes: D1 allows 32 arguments. */
const PAIRS = 16

/** The features of a plan that are asked about. Each is looked up by itself: json_each would count a row for all of them. */
function among(keys: readonly string[]) {
  const pairs = keys.filter((key) => KEY.test(key)).map((key) => sql`${key}, ${plans.features} -> ${`$."${key}"`}`)
  const parts = Array.from({ length: Math.ceil(pairs.length / PAIRS) }, (_, part) =>
    pairs.slice(part * PAIRS, (part + 1) * PAIRS),
  )
  const objects = parts.map((part) => sql`json_object(${sql.join(part, sql`, `)})`)
  return sql<PlanFeatures>`json_array(${sql.join(objects, sql`, `)})`.mapWith((text: string) =>
    Object.fromEntries(
      (JSON.parse(text) as Record<string, unknown>[]).flatMap(Object.entries).filter(([, value]) => value !== null),
    ),
  )
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
const field = <T>(name: string) => sql<T | null>`${o.candidates}->>${sql.raw(`'$[0].body.${name}'`)}`

/** The plan that something of an item is mapped to. */
function planOf(projectId: string, part: 'price' | 'product'): SQL {
  return sql`(SELECT ${r.plan_id} FROM ${planRefs} ${r} WHERE ${r.project_id} = ${projectId} AND ${r.vendor} = ${o.vendor}
    AND ${r.ref} = i.value->>${sql.raw(`'${part}'`)})`
}

/**
 * The subscriptions of consumers: asked → external ids → links → subscriptions, each by its index. Two links can name one
 * customer of two vendors, so the vendor is compared too. A row for each item, so that a limit
 * bounds what a call reads.
 */
export function subscriptionsOf(db: Db, projectId: string, list: SQL) {
  const { from, id } = asked(projectId, list)
  const item = sql`CASE WHEN i.key IS NOT NULL THEN json_object('price', i.value->>'price', 'product', i.value->>'product',
    'quantity', i.value->'quantity', 'plan_id', coalesce(${planOf(projectId, 'price')}, ${planOf(projectId, 'product')})) END`
  const shown = {
    place: sql<number>`own.place`,
    vendor: o.vendor,
    id: o.vendor_id,
    customer: o.customer,
    status: o.status,
    ambiguous: o.ambiguous,
    past_due_period: o.past_due_period,
    past_due_since: o.past_due_since,
    event_id: sql<string>`${o.candidates}->>'$[0].event_id'`,
    livemode: field<number>('livemode'),
    period_start: field<string>('current_period_start'),
    period_end: field<string>('current_period_end'),
    cancel_at: field<string>('cancel_at'),
    cancel_at_period_end: field<number>('cancel_at_period_end'),
    updated_at: field<string>('updated_at'),
    item: json<Item | null>(item),
  }
  return raw(
    db,
    shown,
    (fields) => sql`WITH c AS MATERIALIZED (SELECT a.key AS place, ${id} AS id FROM ${from}),
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
      SELECT ${fields} FROM own CROSS JOIN ${billingObjects} ${o} INDEXED BY billing_customer
        ON ${o.project_id} = ${projectId} AND ${o.kind} = 'subscription' AND ${o.customer} IS NOT NULL
          AND ${o.customer} = own.customer AND ${o.vendor} = own.vendor
      LEFT JOIN json_each(${o.candidates}, '$[0].body.items') i
      LIMIT ${MAX_ITEMS + 1}`,
  )
}

/**
 * The grants of consumers that were not revoked; of those that have expired, the newest: see {@link MAX_EXPIRED}.
 *
 * @param at the time as of which (ms); undefined for now
 */
export function grantsOf(db: Db, projectId: string, list: SQL, at?: number) {
  const { from, id } = asked(projectId, list)
  const { feature, plan_id, effect, value, starts_at, expires_at } = g
  const isOver = sql`coalesce(${expires_at} <= ${at ?? CLOCK}, 0)`
  const isMade =
    at === undefined
      ? isNull(g.revoked_at)
      : and(lt(g.id, idFloor('grt', at + 1)), or(isNull(g.revoked_at), gt(g.revoked_at, at)))
  const nth = sql`row_number() OVER (PARTITION BY place, is_over, ${feature}, ${plan_id}, ${effect} ORDER BY ${g.id} DESC)`
  const found = sql`SELECT ${PLACE} AS place, g.*, ${isOver} AS is_over FROM ${from}
    CROSS JOIN ${grants} ${g} NOT INDEXED
      ON ${and(eq(g.project_id, projectId), eq(g.consumer_id, id), isMade)}`
  return raw(
    db,
    { place: sql<number>`place`, id: g.id, feature, plan_id, effect, value, starts_at, expires_at },
    (fields) => sql`SELECT ${fields} FROM (SELECT *, ${nth} AS nth FROM (${found}) g) g
      WHERE NOT is_over OR nth <= ${MAX_EXPIRED} ORDER BY ${g.id} LIMIT ${MAX_SOURCES + 1}`,
  )
}

type ItemRow = ReturnType<typeof subscriptionsOf>['_']['result'][number]
/** A subscription as it is read. */
export type SubscriptionRow = Omit<ItemRow, 'item'> & { items: Item[] }
type Found = Results<ReturnType<typeof factsOf>>
/** A consumer that was asked about. `id`: null if there is no such consumer. */
export type Asked = Holder & { id: string | null }

/**
 * What {@link factsOf} read, as what entitlements are derived from.
 *
 * @param n how many consumers were asked about
 * @throws {Fault} `payload_too_large` if they have more subscriptions or grants than one call looks at
 */
export function factsIn(found: Found, n: number): { now: number; catalog: Catalog; holders: Asked[] } {
  if (found.grants.length > MAX_SOURCES) throw tooMuch()
  const [project] = found.project
  const catalog = { features: found.features, plans: found.plans, rules: settingsOf(project?.settings ?? null) }
  const subscriptions = Map.groupBy(subscriptionsIn(found.subscriptions), ({ place }) => place)
  const given = Map.groupBy(found.grants, ({ place }) => place)
  const who = new Map(found.who.map((one) => [one.place, one]))
  const holders = Array.from({ length: n }, (_, place) => ({
    id: who.get(place)?.id ?? null,
    state: who.get(place)?.state ?? null,
    subscriptions: (subscriptions.get(place) ?? []).map(subscriptionIn),
    grants: given.get(place) ?? [],
  }))
  return { now: project?.now ?? 0, catalog, holders }
}

/**
 * The subscriptions of rows for each of their items.
 *
 * @throws {Fault} `payload_too_large`
 */
export function subscriptionsIn(rows: readonly ItemRow[]): SubscriptionRow[] {
  const byName = Map.groupBy(rows, ({ place, vendor, id }) => `${place} ${vendor} ${id}`)
  if (rows.length > MAX_ITEMS || byName.size > MAX_SOURCES) throw tooMuch()
  return [...byName.values()].flatMap((own) => {
    const items = own.map(({ item }) => item).filter((item) => item !== null)
    return own.slice(0, 1).map(({ item: _, ...row }) => ({ ...row, items }))
  })
}

export function subscriptionIn(row: SubscriptionRow): Subscription {
  const { past_due_period, past_due_since, cancel_at_period_end } = row
  const period_end = timeIn(row.period_end)
  // An event of an earlier period does not say since when the current one is unpaid.
  const isCurrent = past_due_since !== null && past_due_period === nanoseconds(row.period_start)
  return {
    vendor: row.vendor,
    id: row.id,
    status: row.status,
    ambiguous: row.ambiguous,
    event_id: row.event_id,
    items: row.items,
    livemode: row.livemode === null ? null : row.livemode === 1,
    period_start: timeIn(row.period_start),
    period_end,
    cancel_at: timeIn(row.cancel_at) ?? (cancel_at_period_end === 1 ? period_end : null),
    past_due_since: isCurrent ? timeIn(`${past_due_since}Z`) : null,
    updated_at: timeIn(row.updated_at),
  }
}

/** A vendor's time in milliseconds. */
function timeIn(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/** What reads facts, or null if they are too much for one answer. */
export function unlessTooMuch<T>(facts: () => T): T | null {
  try {
    return facts()
  } catch (error) {
    if (error instanceof Fault && error.fault === 'payload_too_large') return null
    throw error
  }
}

export function tooMuch(): Fault {
  return new Fault(
    'payload_too_large',
    `These consumers have more than ${MAX_SOURCES} subscriptions or grants, or their subscriptions have more than ${MAX_ITEMS} items. Ask about fewer consumers at a time.`,
  )
}
