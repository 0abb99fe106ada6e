import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { auditLog } from '../audit/schema'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { refusedNull } from '../db/refused'
import { bare, jsonLists, valuesOf } from '../db/sql'
import { replaced } from '../db/upsert'
import type { Runtime } from '../env'
import { requireTag } from '../http/etag'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { copySettings, patched, settingsEntry } from '../tenancy/patched'
import { projects } from '../tenancy/schema'
import type { CatalogSettings } from '../tenancy/settings'
import { firstKeyInserted, makeSigningKey } from '../token-keys/keys'
import { type CatalogWrites, countWrites, type PlanWrite, priceText, writesFor } from './differences'
import type { CatalogWanted } from './document'
import { requireUngranted } from './features'
import { pairsOf } from './plans'
import { oldRevisionsDeleted, revisionsBeyondDeleted, revisionsKept } from './revisions'
import { features, planRefs, plans } from './schema'
import { type CatalogState, catalogContents, catalogIn, catalogOf, catalogVersion, contentsRead } from './state'

/** Attempts to write a catalog while other calls change it. */
const MAX_ATTEMPTS = 10
const BUSY = 'Other calls keep changing the catalog. Read it again, and then send the change.'

/**
 * Makes the catalog of a project what a document says, in one transaction. What is the same already is not written.
 *
 * @param wanted.ifMatch the header; undefined if the caller sent none
 * @param wanted.requireMay throws if the caller may not change these settings
 * @throws {Fault} `precondition_failed`, `payload_too_large`, `encryption_key_unavailable`, and what {@link writesFor} throws
 */
export async function putCatalog(
  rt: Runtime,
  projectId: string,
  wanted: { document: CatalogWanted; ifMatch: string | undefined; requireMay: (settings: string[]) => void },
  change: Change,
): Promise<{ version: string; writes: CatalogWrites }> {
  const { db } = rt
  for (let attempt = 1; ; attempt++) {
    const state = await catalogIn(await batch(db, catalogOf(db, projectId)))
    requireTag(wanted.ifMatch, `"${state.version}"`, 'catalog')
    const writes = writesFor(state, wanted.document)
    wanted.requireMay(Object.keys(writes.settings))
    if (countWrites(writes) === 0) return { version: state.version, writes }
    try {
      return { version: await write(rt, projectId, { state, writes }, change), writes }
    } catch (error) {
      // Something has changed since the read.
      if (!refusedNull(error, auditLog.project_id)) throw error
      if (attempt === MAX_ATTEMPTS) throw new Fault('precondition_failed', BUSY)
    }
  }
}

type Identified = PlanWrite & { id: string }

/** Writes what differs, in one batch that fails whole if the catalog is another one than was read. @returns the new version */
async function write(
  rt: Runtime,
  projectId: string,
  { state, writes }: { state: CatalogState; writes: CatalogWrites },
  change: Change,
): Promise<string> {
  const { db } = rt
  const { now } = change
  const { deleted } = writes
  const changed = writes.plans.map((one) => ({ ...one, id: one.before?.id ?? newId('pln', now) }))
  const had = changed.flatMap(({ before }) => before?.id ?? [])
  const free = deleted.length > 0 ? await requireUngranted(db, projectId, deleted, now) : undefined
  const key = had.length < changed.length ? await makeSigningKey(rt, projectId) : null
  const isSame = and(sql`${catalogContents(projectId)} = ${state.contents}`, free)
  const plans = [...state.plans, ...changed.map(({ id, after: { key } }) => ({ id, key }))]
  const settings = settingsIn(writes, state, plans)
  const entries = entriesOf(state, writes, changed, now)
  if (settings) entries.push({ id: newId('aud', now), ...settingsEntry(projectId, settings.after, settings.before) })
  const { contents } = await batch(db, {
    // The first statement, because the others change what it compares.
    entries: entriesAdded(db, { projectId, entries, isSame }, change),
    kept: revisionsKept(db, projectId, had, now),
    spared: revisionsBeyondDeleted(db, projectId),
    dropped: db
      .delete(features)
      .where(and(eq(features.project_id, projectId), inArray(features.key, valuesOf(deleted)))),
    features: featuresWritten(db, projectId, writes.features, now),
    ...plansWritten(db, projectId, changed, now),
    pruned: oldRevisionsDeleted(db, projectId, had),
    ...pricesWritten(db, projectId, changed),
    ...(settings && { settings: settingsWritten(db, projectId, settings.after) }),
    ...(key && { key: firstKeyInserted(db, projectId, key, now) }),
    contents: contentsRead(db, projectId),
  })
  // If this is not reached, the hourly pass copies them.
  if (settings && rt.store !== 0) await copySettings(rt.directory, projectId, settings.after)
  return catalogVersion(contents)
}

/** The settings to write, and what they replace; null for none. The default plan has its id. @param plans with their ids, the new ones too */
function settingsIn(
  { settings }: CatalogWrites,
  state: CatalogState,
  plans: readonly { id: string; key: string }[],
): { after: Partial<CatalogSettings>; before: Partial<CatalogSettings> } | null {
  const names = Object.keys(settings) as (keyof CatalogSettings)[]
  if (names.length === 0) return null
  const identified = (of: Partial<CatalogSettings>) =>
    of.default_plan == null ? of : { ...of, default_plan: plans.find(({ key }) => key === of.default_plan)?.id ?? null }
  const before = Object.fromEntries(names.map((name) => [name, state.settings[name]]))
  return { after: identified(settings), before: identified(before) }
}

function settingsWritten(db: Db, projectId: string, settings: Partial<CatalogSettings>) {
  return db
    .update(projects)
    .set({ settings: patched(settings) })
    .where(eq(projects.id, projectId))
}

/** The entries of the audit log that the calls for single features and plans would leave. */
function entriesOf(state: CatalogState, writes: CatalogWrites, changed: readonly Identified[], now: number) {
  const nameOf = (key: string) => state.features.find((feature) => feature.key === key)?.name
  const id = () => newId('aud', now)
  const entry = (object_type: string, did: string, object_id: string, details?: object) => {
    return { id: id(), action: `${object_type}.${did}`, object_type, object_id, details }
  }
  return [
    ...writes.features.map(({ before, after: { key, name, type, combine } }) =>
      before
        ? entry('feature', 'updated', key, {
            name,
            ...(before.combine !== combine && { combine }),
            before: { name: before.name, ...(before.combine !== combine && { combine: before.combine }) },
          })
        : entry('feature', 'created', key, { name, type }),
    ),
    ...writes.deleted.map((key) => entry('feature', 'deleted', key, { name: nameOf(key) })),
    ...changed.map(({ id: plan, before, after: { key }, fields }) =>
      before
        ? entry('plan', 'updated', plan, { fields, revision: before.revision + 1 })
        : entry('plan', 'created', plan, { key }),
    ),
  ]
}

/** Adds entries to the audit log. If the catalog is not the same any more, NULL, which the column refuses, fails the batch. */
function entriesAdded(
  db: Db,
  { projectId, entries, isSame }: { projectId: string; entries: readonly object[]; isSame: SQL | undefined },
  change: Change,
) {
  const of = (field: string) => sql`j.value ->> ${field}`
  const taken = {
    project_id: sql`CASE WHEN ${isSame} THEN ${projectId} END`,
    id: of('id'),
    action: of('action'),
    object_type: of('object_type'),
    object_id: of('object_id'),
    details: sql`j.value -> 'details'`,
  }
  const from = sql`FROM json_each(${JSON.stringify(entries)}) j`
  return auditedFrom(db, change, { action: '', object_type: '', object_id: '' }, { taken, from })
}

function featuresWritten(db: Db, projectId: string, written: CatalogWrites['features'], now: number) {
  const list = JSON.stringify(written.map(({ after }) => after))
  const { project_id, key, name, combine } = features
  const row = {
    project_id: sql`${projectId}`,
    key: sql`j.value ->> 'key'`,
    name: sql`j.value ->> 'name'`,
    type: sql`j.value ->> 'type'`,
    combine: sql`j.value ->> 'combine'`,
    created_at: sql`CAST(${now} AS INTEGER)`,
  }
  return insertFrom(
    db,
    features,
    row,
    sql`FROM json_each(${list}) j WHERE true ON CONFLICT (${bare(project_id, key)}) DO UPDATE SET ${replaced(name, combine)}`,
  )
}

/** Inserts and updates plans. One parameter may not hold all that they give. */
function plansWritten(db: Db, projectId: string, changed: readonly Identified[], now: number) {
  const { project_id, id, name, rank, state, revision, updated_at } = plans
  // What a plan gives is a text in the list, so that it is stored as it is.
  const rows = changed.map(({ id, after: { prices: _, ...own } }) => {
    return { ...own, id, features: JSON.stringify(own.features) }
  })
  const row = {
    project_id: sql`${projectId}`,
    id: sql`j.value ->> 'id'`,
    key: sql`j.value ->> 'key'`,
    name: sql`j.value ->> 'name'`,
    rank: sql`j.value ->> 'rank'`,
    state: sql`j.value ->> 'state'`,
    features: sql`j.value ->> 'features'`,
    revision: sql`1`,
    updated_at: sql`CAST(${now} AS INTEGER)`,
  }
  const set = sql`${replaced(name, rank, state, plans.features, updated_at)}, ${bare(revision)} = ${revision} + 1`
  return numbered('plans', jsonLists(rows), (list) =>
    insertFrom(
      db,
      plans,
      row,
      sql`FROM json_each(${list}) j WHERE true ON CONFLICT (${bare(project_id, id)}) DO UPDATE SET ${set}`,
    ),
  )
}

/** Removes prices before it adds any, so that a price can move from one plan to another. */
function pricesWritten(db: Db, projectId: string, changed: readonly Identified[]) {
  const others = (these: PlanWrite['after']['prices'] = [], those: typeof these = []) => {
    const same = new Set(those.map(priceText))
    return these.filter((one) => !same.has(priceText(one)))
  }
  const removed = changed.flatMap(({ before, after }) => others(before?.prices, after.prices))
  const added = changed.flatMap(({ id, before, after }) =>
    others(after.prices, before?.prices).map((one) => ({ ...one, plan_id: id })),
  )
  const row = {
    project_id: sql`${projectId}`,
    vendor: sql`j.value ->> 'vendor'`,
    ref: sql`j.value ->> 'ref'`,
    plan_id: sql`j.value ->> 'plan_id'`,
    lasts: sql`j.value ->> 'lasts'`,
    again: sql`j.value ->> 'again'`,
  }
  return {
    ...numbered('unmapped', jsonLists(removed.map(({ vendor, ref }) => [vendor, ref])), (list) => {
      const isRemoved = inArray(sql`(${planRefs.vendor}, ${planRefs.ref})`, pairsOf(list))
      return db.delete(planRefs).where(and(eq(planRefs.project_id, projectId), isRemoved))
    }),
    ...numbered('prices', jsonLists(added), (list) => insertFrom(db, planRefs, row, sql`FROM json_each(${list}) j`)),
  }
}

/** A statement for each list, under names of their own. */
function numbered<Q>(name: string, lists: readonly string[], query: (list: string) => Q): Record<string, Q> {
  return Object.fromEntries(lists.map((list, n) => [`${name}_${n}`, query(list)]))
}
