import { and, eq, gt, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { featuresAmong, listFeatures } from '../catalog/features'
import { MAX_CONFIG_BYTES } from '../catalog/limits'
import { plans } from '../catalog/schema'
import type { PlanFeatures } from '../catalog/values'
import type { ConsumerRef } from '../consumers/ref'
import { consumers, grants } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { valuesOf } from '../db/sql'
import { CATALOG_KEY } from '../lib/catalog-key'
import { idFloor } from '../lib/ids'
import { projects } from '../tenancy/schema'
import { askedIn, holdingsOf } from './holdings'
import { MAX_ASKED_FEATURES, MAX_EXPIRED, MAX_SMALL_PLAN, MAX_SMALL_VALUE, MAX_SOURCES } from './limits'

const k = alias(consumers, 'k')
const g = alias(grants, 'g')
const p = alias(plans, 'p')

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
  /** Whether names are read: those of plans, and the vendor's ids of each item's price and product, which a preview maps anew. */
  named?: boolean
  /** Whether the payments of subscriptions are read also if the setting `subscription_reversed` does not need them. */
  reversed?: boolean
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
  const { keys, explained = false, named = explained, reversed = false } = asked
  return {
    project: settingsNow(db, projectId),
    who: whoIs(db, projectId, list),
    holdings: holdingsOf(db, projectId, list, { all: explained, named, reversed }),
    grants: grantsOf(db, projectId, list, { whole: asked.plans !== undefined }),
    features: keys === null ? listFeatures(db, projectId) : featuresAmong(db, projectId, keys),
    plans: plansOf(db, projectId, asked),
  }
}

/** The settings of a project, and the time. */
export function settingsNow(db: Db, projectId: string) {
  return db
    .select({ settings: projects.settings, now: CLOCK.as('now') })
    .from(projects)
    .where(eq(projects.id, projectId))
}

/** The plans, each with what it gives of the features and the bytes of that. `features`, `name`: null where they are not read. */
function plansOf(db: Db, projectId: string, { keys, plans: ids = [], explained, named = explained }: FeaturesAsked) {
  const [given, inText] = keys !== null && keys.length <= MAX_ASKED_FEATURES ? [among(keys), ofParts] : [WHOLE, ofWhole]
  const shown = {
    id: p.id,
    key: p.key,
    name: sql<string | null>`${named ? p.name : sql`NULL`}`.as('name'),
    rank: p.rank,
    state: p.state,
    features:
      sql<PlanFeatures | null>`iif(bytes <= ${MAX_SMALL_PLAN} OR ${inArray(p.id, valuesOf(ids))}, given, NULL)`.mapWith(
        inText,
      ),
    bytes: sql<number>`bytes`,
  }
  const all = sql`SELECT *, octet_length(given) AS bytes FROM (
    SELECT ${plans.id}, ${plans.key}, ${plans.name}, ${plans.rank}, ${plans.state}, ${given} AS given FROM ${plans} WHERE ${plans.project_id} = ${projectId})`
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
  const { from, id, place } = askedIn(projectId, list)
  return raw(
    db,
    { place, id: k.id, state: k.state },
    (fields) =>
      sql`SELECT ${fields} FROM ${from} CROSS JOIN ${consumers} ${k} ON ${k.project_id} = ${projectId} AND ${k.id} = ${id}`,
  )
}

/**
 * The grants of consumers that were not revoked; of those that have expired, the newest: see {@link MAX_EXPIRED}.
 *
 * @param how.at the time as of which (ms); undefined for now
 * @param how.whole whether long values are read too. Without them, `bytes` is how many are lacking
 */
export function grantsOf(db: Db, projectId: string, list: SQL, { at, whole }: { at?: number; whole: boolean }) {
  const { from, id, place } = askedIn(projectId, list)
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
  const found = sql`SELECT ${place} AS place, g.*, ${isOver} AS is_over FROM ${from}
    CROSS JOIN ${grants} ${g} NOT INDEXED
      ON ${and(eq(g.project_id, projectId), eq(g.consumer_id, id), isMade)}`
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (SELECT *, ${nth} AS nth FROM (${found}) g) g
      WHERE NOT is_over OR nth <= ${MAX_EXPIRED} ORDER BY ${g.id} LIMIT ${MAX_SOURCES + 1}`,
  )
}

/** The rows of a walk, each with its number as `nth`, and whether it is the last one as `is_last`. */
export function numbered(walk: SQL, order: SQL): SQL {
  return sql`SELECT *, row_number() OVER by_key AS nth, lead(1, 1, 0) OVER by_key = 0 AS is_last
    FROM (${walk}) WINDOW by_key AS (ORDER BY ${order})`
}
