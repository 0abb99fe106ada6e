import { and, asc, eq, gt, inArray, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, auditedFrom, type Change } from '../audit/store'
import { isLive } from '../consumers/grants'
import { grants } from '../consumers/schema'
import { batch, type Db, raw, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { valuesOf } from '../db/sql'
import { Fault, notFound } from '../lib/fault'
import { projects } from '../tenancy/schema'
import { MAX_FEATURES, MAX_GRANTS_WALKED } from './limits'
import { includesFeature } from './plans'
import { features, plans } from './schema'
import { type Combine, type FeatureType, type PlanFeatures, UNLIMITED } from './values'

const f = alias(features, 'f')
const g = alias(grants, 'g')

/** A feature of a project. */
export type Feature = ReturnType<typeof findFeature>['_']['result'][number]

const shown = {
  key: features.key,
  name: features.name,
  type: features.type,
  combine: features.combine,
  created_at: features.created_at,
}

export function findFeature(db: Db, projectId: string, key: string) {
  return db.select(shown).from(features).where(isFeature(projectId, key))
}

/** Reads the features of a project in the order of their keys, starting after the key `before`. */
export function listFeatures(
  db: Db,
  projectId: string,
  { before, take }: { before: string | null; take: number } = { before: null, take: MAX_FEATURES },
) {
  return db
    .select(shown)
    .from(features)
    .where(and(eq(features.project_id, projectId), before === null ? undefined : gt(features.key, before)))
    .orderBy(asc(features.key))
    .limit(take)
}

/** Reads the features of a project that have one of these keys. */
export function featuresAmong(db: Db, projectId: string, keys: readonly string[]) {
  return db
    .select(shown)
    .from(features)
    .where(and(eq(features.project_id, projectId), inArray(features.key, valuesOf(keys))))
}

/** What a caller sets of a feature. `combine`: undefined stays as it is, and a new quantity gets `max`. */
export type FeatureFields = { name: string; type: FeatureType; combine?: Combine | undefined }

/**
 * Creates a feature, or changes the name or the combination of one that is there. The same values again write nothing.
 *
 * @throws {Fault} `feature_type_fixed`, `feature_limit_reached`
 */
export async function putFeature(
  db: Db,
  { project_id, key }: { project_id: string; key: string },
  { name, type, combine }: FeatureFields,
  change: Change,
): Promise<{ feature: Feature; created: boolean }> {
  const row = { project_id, key, name, type, combine: type === 'quantity' ? (combine ?? 'max') : null }
  const count = db.$count(features, eq(features.project_id, project_id))
  const changing = and(
    isFeature(project_id, key),
    eq(features.type, type),
    or(ne(features.name, name), combine === undefined ? undefined : ne(features.combine, combine)),
  )
  const about = { object_type: 'feature', object_id: key }
  const { before, rows } = await batch(db, {
    before: findFeature(db, project_id, key),
    ...audited(
      db,
      change,
      { ...about, project_id, action: 'feature.created', details: { name, type } },
      insertWhere(
        db,
        features,
        { ...row, created_at: change.now },
        sql`${count} < ${MAX_FEATURES}`,
      ).onConflictDoNothing(),
    ),
    alsoAudited: auditedFrom(
      db,
      change,
      { ...about, action: 'feature.updated' },
      {
        taken: { project_id: features.project_id, details: updated({ name, combine }) },
        from: sql`FROM ${features} WHERE ${changing}`,
      },
    ),
    updated: db
      .update(features)
      .set({ name, ...(combine !== undefined && { combine }) })
      .where(changing),
    rows: findFeature(db, project_id, key),
  })
  const [feature] = rows
  if (!feature) throw new Fault('feature_limit_reached', `A project can have ${MAX_FEATURES} features.`)
  requireType(feature, type)
  return { feature, created: before.length === 0 }
}

/** The details of an update of a feature, with what it replaces, as an expression over its row. */
function updated({ name, combine }: Pick<FeatureFields, 'name' | 'combine'>): SQL {
  const replaced = combine === undefined ? sql`` : sql`, 'combine', ${features.combine}`
  const combined = combine === undefined ? sql`` : sql`, 'combine', ${combine}`
  return sql`json_object('name', ${name}${combined}, 'before', json_object('name', ${features.name}${replaced}))`
}

/** @throws {Fault} `feature_type_fixed` */
export function requireType({ key, type }: Pick<Feature, 'key' | 'type'>, wanted: FeatureType): void {
  if (type === wanted) return
  throw new Fault('feature_type_fixed', `The feature ${key} is a ${type}. Its type cannot change: use another key.`)
}

const IN_USE =
  'A plan, a grant or the setting devices_feature uses this feature. Remove it from all plans, revoke its grants, and change the setting first.'

/**
 * Deletes a feature that nothing has. Grants are walked in the order of their ids, a part in each transaction: the last one
 * deletes.
 *
 * @throws {Fault} `not_found`, `feature_in_use`
 */
export async function deleteFeature(
  db: Db,
  { project_id, key }: { project_id: string; key: string },
  change: Change,
): Promise<void> {
  for (let after: string | null = ''; after !== null; ) {
    const walk = walkGrants(project_id, [key], after, change.now)
    const named = sql`(EXISTS ${plansWith(project_id, key)} OR EXISTS ${inSettings(project_id, key)})`
    const unused = and(isFeature(project_id, key), sql`NOT ${named}`, endsUnused(walk))
    const { before, walked, rows } = await batch(db, {
      before: findFeature(db, project_id, key),
      walked: raw(
        db,
        {
          n: sql<number>`count(*)`,
          last: sql<string | null>`max(w.id)`,
          used: sql<boolean>`coalesce(max(w.used), 0) OR ${named}`.mapWith(Boolean),
        },
        (fields) => sql`SELECT ${fields} FROM ${walk} w`,
      ),
      audited: auditedFrom(
        db,
        change,
        { action: 'feature.deleted', object_type: 'feature', object_id: key },
        {
          taken: { project_id: features.project_id, details: sql`json_object('name', ${features.name})` },
          from: sql`FROM ${features} WHERE ${unused}`,
        },
      ),
      deleted: db.delete(features).where(unused),
      rows: findFeature(db, project_id, key),
    })
    if (before.length === 0) throw notFound('Feature')
    if (rows.length === 0) return
    const [part] = walked
    if (!part || part.used || part.n < MAX_GRANTS_WALKED) throw new Fault('feature_in_use', IN_USE)
    after = part.last
  }
}

/**
 * Walks the grants of a project up to the last part, for a change that deletes several features.
 *
 * @returns whether the last part still has no live grant of them, as an expression for the transaction that deletes
 * @throws {Fault} `feature_in_use`
 */
export async function requireUngranted(db: Db, projectId: string, keys: readonly string[], now: number): Promise<SQL> {
  for (let after = ''; ; ) {
    const walk = walkGrants(projectId, keys, after, now)
    const fields = { n: sql<number>`count(*)`, last: sql<string | null>`max(id)`, used: sql<number>`max(used)` }
    const [part] = await run(
      db,
      raw(db, fields, (list) => sql`SELECT ${list} FROM ${walk}`),
    )
    if (part?.used) throw featureInUse(keys)
    if (!part?.last || part.n < MAX_GRANTS_WALKED) return endsUnused(walk)
    after = part.last
  }
}

/** Whether a walk has come to its end, and found no live grant. */
function endsUnused(walk: SQL): SQL {
  return sql`(SELECT count(*) < ${MAX_GRANTS_WALKED} AND coalesce(max(used), 0) = 0 FROM ${walk})`
}

const LEFT_OUT = 'A live grant or the setting devices_feature uses a feature that the document leaves out.'
/** How many keys an answer names. */
const MAX_NAMED = 20

/** @param keys of features to be deleted, of which one is in use */
export function featureInUse(keys: readonly string[]): Fault {
  const more = keys.length > MAX_NAMED ? ', …' : ''
  return new Fault('feature_in_use', `${LEFT_OUT} It is one of: ${keys.slice(0, MAX_NAMED).join(', ')}${more}.`)
}

/** Whether the project has a quantity feature with this key. */
export function isQuantity(projectId: string, key: string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${features} WHERE ${and(isFeature(projectId, key), eq(features.type, 'quantity'))})`
}

/** The project, if its setting `devices_feature` names a feature, as a subquery. */
function inSettings(projectId: string, key: string): SQL {
  return sql`(SELECT 1 FROM ${projects} WHERE ${eq(projects.id, projectId)} AND ${projects.settings} ->> 'devices_feature' = ${key})`
}

/** The plans that have a feature, as a subquery. */
function plansWith(projectId: string, key: string): SQL {
  return sql`(SELECT 1 FROM ${plans} WHERE ${plans.project_id} = ${projectId} AND ${includesFeature(key)})`
}

/**
 * The next grants of a project, as a subquery: whether each is a live one of these features. No index finds these: it would cost a row
 * for each grant, and features are seldom deleted. Ids stay when a grant gets another consumer.
 */
function walkGrants(projectId: string, keys: readonly string[], after: string, now: number): SQL {
  return sql`(SELECT ${g.id} AS id, ${and(inArray(g.feature, valuesOf(keys)), isLive(g, now))} AS used FROM ${grants} ${g} INDEXED BY grants_id
    WHERE ${g.project_id} = ${projectId} AND ${g.id} > ${after} ORDER BY ${g.id} LIMIT ${MAX_GRANTS_WALKED})`
}

function isFeature(projectId: string, key: string): SQL | undefined {
  return and(eq(features.project_id, projectId), eq(features.key, key))
}

/** Whether the project has these features, with types that the values fit. `misfits` of values.ts says the same. */
export function featuresFit(projectId: string, wanted: PlanFeatures): SQL {
  const value = sql`json_type(j.value, '$.value')`
  const isQuantity = sql`(${value} = 'integer' AND j.value->>'value' BETWEEN 0 AND ${sql.raw(String(Number.MAX_SAFE_INTEGER))}
    OR ${value} = 'text' AND j.value->>'value' = ${UNLIMITED})`
  const fits = sql`CASE ${f.type} WHEN 'boolean' THEN ${value} = 'true' WHEN 'quantity' THEN ${isQuantity} ELSE 1 END`
  return sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(wanted)}) j
    LEFT JOIN ${features} ${f} ON ${f.project_id} = ${projectId} AND ${f.key} = j.key
    WHERE ${f.key} IS NULL OR NOT (${fits}) OR ${f.type} <> 'quantity' AND j.value->>'per_seat')`
}
