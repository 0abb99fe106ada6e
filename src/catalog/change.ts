import { and, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { audited, auditedFrom, type Change } from '../audit/store'
import { batch, ConstraintError, type Db, raw } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { refusedNull, refusedTwin } from '../db/refused'
import type { Runtime } from '../env'
import { requireMatch, revisionsIn } from '../http/etag'
import { invalidFields } from '../http/validate'
import { keptWith } from '../idempotency/claim'
import { utf8 } from '../lib/crypto'
import { Fault, requireFound } from '../lib/fault'
import { newId } from '../lib/ids'
import { firstKeyInserted, makeSigningKey } from '../token-keys/keys'
import { featuresAmong, featuresFit } from './features'
import { MAX_CATALOG_BYTES, MAX_PLANS } from './limits'
import {
  bytesOfOthers,
  defaultingTo,
  findPlan,
  isDefaultPlan,
  isMine,
  isPlan,
  type MappedPrice,
  mappedPrices,
  mappingOf,
  mappingsIn,
  mine,
  type Plan,
  type PlanOf,
  plansOfPrices,
  refsAdded,
  refsRemoved,
  requireFree,
  withPrices,
} from './plans'
import { oldRevisionDeleted, revisionKept, revisionsBeyondDeleted } from './revisions'
import { type PlanState, planRefs, plans } from './schema'
import { misfits, type PlanFeatures } from './values'

const as = alias(plans, 'as_it_is')

/** What a caller sets of a plan. Features have their keys in order. */
export type PlanFields = {
  key: string
  name: string
  rank: number
  state: PlanState
  features: PlanFeatures
  prices: readonly MappedPrice[]
}

/** What a change of a plan sets. `ifMatch`: the header; undefined if the caller sent none. */
type Wanted = { fields: Partial<PlanFields>; ifMatch?: string | undefined }

/** Attempts to write a plan while other calls change what it is checked against. */
const MAX_ATTEMPTS = 10

/**
 * Creates a plan, in one batch that fails whole. With the first one, the project gets the key that signs its entitlement
 * tokens, so that the key is published before there is a token.
 *
 * @throws {Fault} `validation_failed`, `plan_key_taken`, `price_mapped`, `plan_limit_reached`, `catalog_limit_reached`,
 *   `encryption_key_unavailable`
 */
export async function createPlan(rt: Runtime, projectId: string, fields: PlanFields, change: Change): Promise<Plan> {
  const { db } = rt
  const key = await makeSigningKey(rt, projectId)
  const of = { project_id: projectId, id: newId('pln', change.now) }
  const { prices, ...own } = fields
  const fits = and(featuresFit(projectId, own.features), catalogFits(of, own.features))
  const row = { ...of, ...own, revision: sql`CASE WHEN ${fits} THEN 1 END` }
  const room = sql`${db.$count(plans, eq(plans.project_id, projectId))} < ${MAX_PLANS}`
  const write = async () => {
    const { rows, refs } = await batch(db, {
      ...audited(
        db,
        change,
        entry(of, 'plan.created', { key: fields.key }),
        insertWhere(db, plans, { ...row, updated_at: change.now }, room),
      ),
      ...keptWith(db, change, of.id),
      mapped: refsAdded(db, of, prices),
      key: firstKeyInserted(db, projectId, key, change.now),
      rows: findPlan(db, projectId, of.id),
      refs: mappedPrices(db, projectId, of.id),
    })
    const [plan] = withPrices(rows, refs)
    if (!plan) throw new Fault('plan_limit_reached', `A project can have ${MAX_PLANS} plans, archived ones included.`)
    return plan
  }
  return untilDecided(db, of, { fields }, write)
}

/**
 * Changes a plan, in one batch that fails whole. Fields that are left out stay; features and prices are replaced whole. The
 * same values again write nothing. The plan as it was is kept as a revision.
 *
 * @param wanted.ifMatch the header; undefined if the caller sent none
 * @throws {Fault} `not_found`, `precondition_failed`, `validation_failed`, `plan_key_taken`, `price_mapped`, `plan_is_default`,
 *   `catalog_limit_reached`
 */
export async function updatePlan(db: Db, of: PlanOf, wanted: Wanted, change: Change): Promise<Plan> {
  const { fields, ifMatch } = wanted
  const { prices, ...own } = fields
  const differs = and(isPlan(of), differing(of, fields))
  const allowed = revisionsIn(ifMatch)
  const current =
    allowed === null ? sql`1` : sql`${plans.revision} IN (SELECT value FROM json_each(${JSON.stringify(allowed)}))`
  // NULL, which the column refuses, fails the batch. A later `revision = …` would be no fence: the loser of two changes would
  // see the winner's revision.
  const fits = and(
    featuresFit(of.project_id, own.features ?? {}),
    own.features && catalogFits(of, own.features),
    own.state === 'archived' ? sql`NOT EXISTS ${defaultingTo(of.project_id, [of.id])}` : undefined,
  )
  const next = sql`CASE WHEN ${current} AND ${fits} THEN ${plans.revision} + 1 END`
  const write = async () => {
    const { before, rows, refs } = await batch(db, {
      before: findPlan(db, of.project_id, of.id),
      kept: revisionKept(db, of, differs, change.now),
      spared: revisionsBeyondDeleted(db, of.project_id),
      ...updateAudited(db, of, fields, change),
      changed: db
        .update(plans)
        .set({ ...own, revision: next, updated_at: change.now })
        .where(differs),
      // It counts from the revision that the plan has now.
      pruned: oldRevisionDeleted(db, of),
      ...(prices && { unmapped: refsRemoved(db, of, prices), mapped: refsAdded(db, of, prices) }),
      rows: findPlan(db, of.project_id, of.id),
      refs: mappedPrices(db, of.project_id, of.id),
    })
    const plan = requireFound(withPrices(rows, refs), 'Plan')
    // Without a difference, nothing has checked the header yet.
    if (before[0]?.revision === plan.revision) requireMatch(ifMatch, plan.revision, 'plan')
    return plan
  }
  return untilDecided(db, of, wanted, write)
}

/**
 * Writes, and reads why if the write was refused. Where nothing is wrong any more, another call has changed what was: it
 * writes again.
 */
async function untilDecided(db: Db, of: PlanOf, wanted: Wanted, write: () => Promise<Plan>): Promise<Plan> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof ConstraintError) || attempt === MAX_ATTEMPTS) throw error
      if (refusedTwin(error, plans.project_id, plans.key)) {
        throw new Fault('plan_key_taken', `Another plan of the project already has the key ${wanted.fields.key}.`)
      }
      if (!refusedNull(error, plans.revision) && !refusedTwin(error, planRefs.project_id)) throw error
      await explainRefusal(db, of, wanted)
    }
  }
}

/** @throws {Fault} what refuses a write of these fields */
async function explainRefusal(db: Db, { project_id, id }: PlanOf, { fields, ifMatch }: Wanted): Promise<void> {
  const { features = {}, prices = [], state } = fields
  const { rows, known, mapped, size, defaulting } = await batch(db, {
    rows: findPlan(db, project_id, id),
    defaulting: raw(
      db,
      { n: sql<number>`1` },
      (fields) => sql`SELECT ${fields} WHERE EXISTS ${defaultingTo(project_id, [id])}`,
    ),
    size: raw(db, { others: sql<number>`${bytesOfOthers({ project_id, id })}` }, (fields) => sql`SELECT ${fields}`),
    known: featuresAmong(db, project_id, Object.keys(features)),
    mapped: plansOfPrices(db, project_id, prices),
  })
  if (rows[0]) requireMatch(ifMatch, rows[0].revision, 'plan')
  const wrong = misfits(features, known)
  if (wrong.length > 0) throw invalidFields(wrong)
  requireFree(mapped, id)
  if (state === 'archived' && defaulting.length > 0) throw isDefaultPlan()
  requireRoom(features, rows[0]?.features, size[0]?.others ?? 0)
}

/** Whether a plan may give this, by what the other plans give, or because it gave as much before. {@link requireRoom} says the same. */
function catalogFits(of: PlanOf, given: PlanFeatures): SQL {
  const bytes = bytesIn(given)
  const before = sql`coalesce((SELECT octet_length(${as.features}) FROM ${plans} ${as} WHERE ${as.project_id} = ${of.project_id} AND ${as.id} = ${of.id}), 0)`
  return sql`(${bytes} <= ${before} OR ${bytesOfOthers(of)} + ${bytes} <= ${MAX_CATALOG_BYTES})`
}

/** @throws {Fault} `catalog_limit_reached` */
function requireRoom(given: PlanFeatures, before: PlanFeatures | undefined, others: number): void {
  const bytes = bytesIn(given)
  if ((before && bytes <= bytesIn(before)) || others + bytes <= MAX_CATALOG_BYTES) return
  const words = `The features of all plans of a project can take ${MAX_CATALOG_BYTES.toLocaleString('en')} bytes as JSON.`
  throw new Fault('catalog_limit_reached', `${words} The other plans have ${others}, and this one would have ${bytes}.`)
}

/** Bytes of what a plan gives, as it is stored. */
export function bytesIn(given: PlanFeatures): number {
  return utf8(JSON.stringify(given)).byteLength
}

/** Whether a change would change anything. */
function differing(of: PlanOf, fields: Partial<PlanFields>): SQL | undefined {
  return or(...differences(of, fields).map(([, differs]) => differs))
}

/** The fields that a change sets, each with whether the plan has another value. */
function differences(of: PlanOf, { key, name, rank, state, features, prices }: Partial<PlanFields>): [string, SQL][] {
  const others = sql`(SELECT count(*) FROM ${planRefs} ${mine} WHERE ${isMine(of)}) <> ${prices?.length} OR
    EXISTS (SELECT * FROM ${mappingsIn(prices ?? [])} EXCEPT SELECT ${mappingOf(mine)} FROM ${planRefs} ${mine} WHERE ${isMine(of)})`
  const all: [string, SQL | undefined][] = [
    ['key', key === undefined ? undefined : ne(plans.key, key)],
    ['name', name === undefined ? undefined : ne(plans.name, name)],
    ['rank', rank === undefined ? undefined : ne(plans.rank, rank)],
    ['state', state === undefined ? undefined : ne(plans.state, state)],
    ['features', features === undefined ? undefined : ne(plans.features, features)],
    ['prices', prices === undefined ? undefined : sql`(${others})`],
  ]
  return all.filter((one): one is [string, SQL] => one[1] !== undefined)
}

/** Records which fields a change is about to change, unless that is none. It comes before the change. */
function updateAudited(db: Db, of: PlanOf, fields: Partial<PlanFields>, change: Change) {
  const names = differences(of, fields).map(([name, differs]) => sql`iif(${differs}, ${`,"${name}"`}, '')`)
  if (names.length === 0) return {}
  const changed = sql`'[' || substr(${sql.join(names, sql` || `)}, 2) || ']'`
  const made = sql`${plans.revision} + 1`
  const from = sql`FROM (SELECT ${plans.project_id} AS project_id, ${changed} AS fields, ${made} AS made FROM ${plans} WHERE ${isPlan(of)})
    WHERE fields <> '[]'`
  const taken = { project_id: sql`project_id`, details: sql`json_object('fields', json(fields), 'revision', made)` }
  return { audited: auditedFrom(db, change, entry(of, 'plan.updated'), { taken, from }) }
}

function entry({ project_id, id }: PlanOf, action: string, details?: Record<string, unknown>) {
  return { project_id, action, object_type: 'plan', object_id: id, details }
}
