import { and, desc, eq, isNull, lt, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { featuresAmong, featuresFit } from '../catalog/features'
import { features, plans } from '../catalog/schema'
import { misfit } from '../catalog/values'
import { liveCount } from '../consumers/grants'
import { MAX_GRANTS } from '../consumers/limits'
import { changeable, consumerIdOf, findConsumer } from '../consumers/read'
import type { ConsumerRef, NamedConsumer } from '../consumers/ref'
import { consumers, type GrantEffect, grants } from '../consumers/schema'
import { batch, type Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { invalidField, invalidFields } from '../http/validate'
import { keptWith } from '../idempotency/claim'
import { Fault, notFound } from '../lib/fault'
import { newId } from '../lib/ids'
import { featureOfGrant, planOfGrant } from './grant-name'

/** A grant, with the key of its plan. `named`: what it gives, as people call it. A feature that was deleted has no name. */
export type Grant = ReturnType<typeof findGrant>['_']['result'][number]

const shown = {
  id: grants.id,
  consumer_id: grants.consumer_id,
  feature: grants.feature,
  plan: plans.key,
  effect: grants.effect,
  value: grants.value,
  starts_at: grants.starts_at,
  expires_at: grants.expires_at,
  reason: grants.reason,
  actor: grants.actor,
  revoked_at: grants.revoked_at,
  revoked_by: grants.revoked_by,
  named: {
    plan_id: grants.plan_id,
    // D1 tells columns apart by their names alone.
    plan: sql<string | null>`${plans.name}`.as('plan_name'),
    feature: sql<string | null>`${features.name}`.as('feature_name'),
  },
}

const c = alias(consumers, 'c')

function select(db: Db) {
  return db.select(shown).from(grants).leftJoin(plans, planOfGrant).leftJoin(features, featureOfGrant)
}

export function findGrant(db: Db, projectId: string, id: string) {
  return select(db).where(isGrant(projectId, id))
}

/** Reads the grants of a project or of a consumer, ended ones too, newest first, starting after the grant `before`. */
export function listGrants(
  db: Db,
  projectId: string,
  consumer: ConsumerRef | undefined,
  { before, take }: { before: string | null; take: number },
) {
  return select(db)
    .where(
      and(
        eq(grants.project_id, projectId),
        consumer && eq(grants.consumer_id, consumerIdOf(projectId, consumer)),
        before === null ? undefined : lt(grants.id, before),
      ),
    )
    .orderBy(desc(grants.id))
    .limit(take)
}

/** What is granted. `value`: undefined if the caller gave none, which only a boolean allows. Times in ms. */
export type NewGrant = {
  effect: GrantEffect
  starts_at: number | null
  expires_at: number | null
  reason: string | null
} & ({ feature: string; value?: unknown; plan?: undefined } | { plan: string; feature?: undefined })

/**
 * Gives a feature or a plan to a consumer, or denies it a feature.
 *
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `validation_failed` for an unknown feature or plan or a value of another type,
 *   `grant_limit_reached`
 */
export async function insertGrant(
  db: Db,
  { project_id: projectId, ref: to }: NamedConsumer,
  grant: NewGrant,
  change: Change,
): Promise<Grant> {
  const id = newId('grt', change.now)
  const { effect, starts_at, expires_at, reason } = grant
  const planId = sql`(SELECT ${plans.id} FROM ${plans} WHERE ${plans.project_id} = ${projectId} AND ${plans.key} = ${grant.plan ?? null})`
  const value = valueIn(grant)
  const row = {
    project_id: projectId,
    consumer_id: consumerIdOf(projectId, to),
    id,
    feature: grant.feature ?? null,
    plan_id: grant.plan === undefined ? null : planId,
    effect,
    value: value ?? null,
    starts_at,
    expires_at,
    reason,
    actor: change.actor.id,
    revoked_at: null,
    revoked_by: null,
  }
  const isThere = and(
    eq(c.project_id, projectId),
    eq(c.id, consumerIdOf(projectId, to)),
    isNull(c.merged_into),
    ne(c.state, 'erased'),
  )
  const allowed = and(
    sql`EXISTS (SELECT 1 FROM ${consumers} ${c} WHERE ${isThere})`,
    grant.plan === undefined ? fittingGrant(projectId, grant) : sql`${planId} IS NOT NULL`,
    sql`${liveCount(projectId, to, change.now)} < ${MAX_GRANTS}`,
  )
  const found = await batch(db, {
    consumer: findConsumer(db, projectId, to),
    features: featuresAmong(db, projectId, grant.feature === undefined ? [] : [grant.feature]),
    plans: db
      .select({ id: plans.id })
      .from(plans)
      .where(and(eq(plans.project_id, projectId), eq(plans.key, grant.plan ?? ''))),
    inserted: insertWhere(db, grants, row, allowed),
    audit: audited(db, change, 'grant.created', isGrant(projectId, id)),
    ...keptWith(db, change, id),
    rows: findGrant(db, projectId, id),
  })
  const [made] = found.rows
  if (made) return made
  changeable(found.consumer)
  if (grant.plan !== undefined && found.plans.length === 0) {
    throw invalidField('/plan', 'not_one_of', 'is not a plan of the project')
  }
  if (grant.feature !== undefined) requireFit(grant, found.features[0])
  throw new Fault('grant_limit_reached', `A consumer can have ${MAX_GRANTS} live grants. Revoke some of them.`)
}

/** The value that is stored: of an allowed feature, what the caller gave, or true. */
function valueIn(grant: NewGrant): unknown {
  if (grant.feature === undefined || grant.effect === 'deny') return undefined
  return grant.value === undefined ? true : grant.value
}

/** Whether the project has the feature, with a type that the value fits. {@link requireFit} says the same. */
function fittingGrant(projectId: string, grant: NewGrant): SQL | undefined {
  const { feature = '' } = grant
  const value = valueIn(grant)
  const type = grant.effect === 'allow' && 'value' in grant && grant.value !== undefined ? undefined : 'boolean'
  const exists = and(eq(features.project_id, projectId), eq(features.key, feature))
  const typed = grant.effect === 'allow' && type ? eq(features.type, type) : undefined
  return and(
    sql`EXISTS (SELECT 1 FROM ${features} WHERE ${and(exists, typed)})`,
    value === undefined ? undefined : featuresFit(projectId, { [feature]: { value, per_seat: false } }),
  )
}

/** @throws {Fault} `validation_failed` */
function requireFit(grant: NewGrant, feature: { type: 'boolean' | 'quantity' | 'config' } | undefined): void {
  if (!feature) throw invalidField('/feature', 'not_one_of', 'is not a feature of the project')
  if (grant.effect === 'deny') return
  const given = 'value' in grant ? grant.value : undefined
  if (given === undefined && feature.type !== 'boolean') throw invalidField('/value', 'required', 'is required')
  const wrong = misfit(feature.type, valueIn(grant), '/value')
  if (wrong) throw invalidFields([wrong])
}

/** Revokes a grant. Again changes nothing. @throws {Fault} `not_found` */
export async function revokeGrant(db: Db, projectId: string, id: string, change: Change): Promise<void> {
  const live = and(isGrant(projectId, id), isNull(grants.revoked_at))
  const { rows } = await batch(db, {
    audit: audited(db, change, 'grant.revoked', live),
    revoked: db.update(grants).set({ revoked_at: change.now, revoked_by: change.actor.id }).where(live),
    rows: findGrant(db, projectId, id),
  })
  if (rows.length === 0) throw notFound('Grant')
}

/** The audit row of a grant. It has no reason, because it is kept when the reason is erased. */
function audited(db: Db, change: Change, action: string, which: SQL | undefined) {
  const { consumer_id, feature, plan_id, effect } = grants
  const details = sql`json_object('consumer', ${consumer_id}, 'feature', ${feature}, 'plan', ${plan_id}, 'effect', ${effect})`
  return auditedFrom(
    db,
    change,
    { action, object_type: 'grant', object_id: '' },
    {
      taken: { project_id: grants.project_id, object_id: grants.id, details },
      from: sql`FROM ${grants} WHERE ${which}`,
    },
  )
}

function isGrant(projectId: string, id: string): SQL | undefined {
  return and(eq(grants.project_id, projectId), eq(grants.id, id))
}
