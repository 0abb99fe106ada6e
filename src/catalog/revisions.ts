import { and, type Column, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { fitsPage, json, valuesOf } from '../db/sql'
import { MAX_COMPARED_BYTES, MAX_HISTORY_BYTES, MAX_REVISION_BYTES, MAX_REVISIONS } from './limits'
import { isMine, type MappedPrice, mine, type PlanOf } from './plans'
import { type PlanState, planRefs, planRevisions, plans } from './schema'
import type { PlanFeatures } from './values'

const older = alias(planRevisions, 'older')
const r = alias(planRevisions, 'r')

/** A plan as it was. */
export type PlanDocument = {
  key: string
  name: string
  rank: number
  state: PlanState
  features: PlanFeatures
  prices: MappedPrice[]
}

/** An earlier revision. `until`: when a change replaced it (ms). `document`: null beyond {@link MAX_HISTORY_BYTES}. */
export type Revision = ReturnType<typeof listRevisions>['_']['result'][number]

/** Reads the last `most` revisions that are kept of a plan, the newest first. */
export function listRevisions(db: Db, { project_id, id }: PlanOf, most: number) {
  const fits = fitsPage(sql`octet_length(${r.document})`, MAX_HISTORY_BYTES, desc(r.revision))
  const newest = sql`SELECT * FROM ${planRevisions} ${r} WHERE ${and(eq(r.project_id, project_id), eq(r.plan_id, id))}
    ORDER BY ${desc(r.revision)} LIMIT ${most}`
  return raw(
    db,
    {
      revision: r.revision,
      until: r.until,
      document: json<PlanDocument | null>(sql`iif(${fits}, ${r.document}, 'null')`),
    },
    (fields) => sql`SELECT ${fields} FROM (${newest}) ${r} ORDER BY ${desc(r.revision)}`,
  )
}

// A patch leaves out what is null.
const PRICE = sql`json_patch(json_object('vendor', ${mine.vendor}, 'ref', ${mine.ref}), json_object('lasts', ${mine.lasts}, 'again', ${mine.again}))`
const PRICES = sql`json_group_array(json(${PRICE}))`

/** Keeps a plan as it is before a change. */
export function revisionKept(db: Db, of: PlanOf, differs: SQL | undefined, now: number) {
  const prices = sql`(SELECT ${PRICES} FROM ${planRefs} ${mine} WHERE ${isMine(of)})`
  return insertFrom(db, planRevisions, rowOf(prices, now), sql`FROM ${plans} WHERE ${differs}`)
}

/** As {@link revisionKept}, of several plans. The prices of the project are read once. */
export function revisionsKept(db: Db, projectId: string, ids: readonly string[], now: number) {
  const own = sql`(SELECT ${mine.plan_id} AS plan_id, ${PRICES} AS prices FROM ${planRefs} ${mine}
    WHERE ${eq(mine.project_id, projectId)} GROUP BY ${mine.plan_id})`
  const those = and(eq(plans.project_id, projectId), inArray(plans.id, valuesOf(ids)))
  return insertFrom(
    db,
    planRevisions,
    rowOf(sql`coalesce(own.prices, '[]')`, now),
    sql`FROM ${plans} LEFT JOIN ${own} own ON own.plan_id = ${plans.id} WHERE ${those}`,
  )
}

/**
 * A plan as a revision of it says, as an expression; NULL if the revision is not kept, or takes more than {@link MAX_COMPARED_BYTES}.
 *
 * @param of expressions
 */
export function planAt({ project_id, id, revision }: Record<'project_id' | 'id' | 'revision', SQL | Column>) {
  const { document } = r
  const kept = sql`SELECT ${document} AS document FROM ${planRevisions} ${r}
    WHERE ${r.project_id} = ${project_id} AND ${r.plan_id} = ${id} AND ${r.revision} = ${revision}`
  const prices = sql`(SELECT ${PRICES} FROM ${planRefs} ${mine} WHERE ${mine.project_id} = ${project_id} AND ${mine.plan_id} = ${id})`
  const current = sql`SELECT ${documentOf(prices)} FROM ${plans}
    WHERE ${plans.project_id} = ${project_id} AND ${plans.id} = ${id} AND ${plans.revision} = ${revision}`
  return json<PlanDocument | null>(
    sql`(SELECT iif(octet_length(document) <= ${MAX_COMPARED_BYTES}, document, NULL) FROM (${kept} UNION ALL ${current}))`,
  )
}

function documentOf(prices: SQL): SQL {
  return sql`json_object('key', ${plans.key}, 'name', ${plans.name}, 'rank', ${plans.rank}, 'state', ${plans.state},
    'features', json(${plans.features}), 'prices', json(${prices}))`
}

function rowOf(prices: SQL, now: number) {
  const document = documentOf(prices)
  return {
    project_id: plans.project_id,
    plan_id: plans.id,
    revision: plans.revision,
    document,
    until: sql`CAST(${now} AS INTEGER)`,
  }
}

/** Deletes the oldest revision of a plan that has too many. */
export function oldRevisionDeleted(db: Db, { project_id, id }: PlanOf) {
  const oldest = sql`(SELECT ${plans.revision} - ${MAX_REVISIONS} FROM ${plans}
    WHERE ${and(eq(plans.project_id, project_id), eq(plans.id, id))})`
  const ofPlan = and(eq(planRevisions.project_id, project_id), eq(planRevisions.plan_id, id))
  return db.delete(planRevisions).where(and(ofPlan, sql`${planRevisions.revision} < ${oldest}`))
}

/** As {@link oldRevisionDeleted}, of several plans. */
export function oldRevisionsDeleted(db: Db, projectId: string, ids: readonly string[]) {
  const ofPlan = and(eq(older.project_id, projectId), eq(older.plan_id, plans.id))
  const those = and(eq(plans.project_id, projectId), inArray(plans.id, valuesOf(ids)))
  const old = sql`(SELECT ${older.plan_id}, ${older.revision} FROM ${plans} CROSS JOIN ${planRevisions} ${older}
    ON ${ofPlan} AND ${older.revision} < ${plans.revision} - ${MAX_REVISIONS} WHERE ${those})`
  const { project_id, plan_id, revision } = planRevisions
  return db.delete(planRevisions).where(and(eq(project_id, projectId), sql`(${plan_id}, ${revision}) IN ${old}`))
}

/** Deletes the oldest revisions of a project whose revisions take more than {@link MAX_REVISION_BYTES}. */
export function revisionsBeyondDeleted(db: Db, projectId: string) {
  const { plan_id, revision, until, document } = planRevisions
  const newer = sql`sum(octet_length(${document})) OVER (ORDER BY ${until} DESC, ${plan_id}, ${revision} DESC ROWS UNBOUNDED PRECEDING)`
  const summed = sql`SELECT ${plan_id}, ${revision}, ${newer} AS bytes FROM ${planRevisions} WHERE ${eq(planRevisions.project_id, projectId)}`
  const beyond = sql`(SELECT plan_id, revision FROM (${summed}) WHERE bytes > ${MAX_REVISION_BYTES})`
  return db
    .delete(planRevisions)
    .where(and(eq(planRevisions.project_id, projectId), sql`(${plan_id}, ${revision}) IN ${beyond}`))
}
