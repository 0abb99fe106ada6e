import { asc, eq, type SQL, sql } from 'drizzle-orm'
import { type Db, type Results, raw } from '../db/client'
import { etagOfContents } from '../http/etag'
import { Fault } from '../lib/fault'
import { projects } from '../tenancy/schema'
import { CATALOG_SETTINGS, type CatalogSettings, ofCatalog, settingsOf } from '../tenancy/settings'
import { type Feature, listFeatures } from './features'
import { MAX_CATALOG_BYTES } from './limits'
import { bytesOfOthers, mappedPrices, type Plan, withPrices } from './plans'
import { features, plans } from './schema'
import type { PlanFeatures } from './values'

/** The whole catalog of a project. Features and plans are in the order of their keys. */
export type CatalogState = {
  version: string
  /** What the version is made from: see {@link catalogContents}. */
  contents: string
  features: Feature[]
  plans: Plan[]
  /** The settings that the document has, in which the default plan has its key. */
  settings: CatalogSettings
}

/** The statements that read the whole catalog of a project. */
export function catalogOf(db: Db, projectId: string) {
  const fits = sql`${bytesOfOthers({ project_id: projectId, id: '' })} <= ${MAX_CATALOG_BYTES}`
  const { id, key, name, rank, state, revision, updated_at } = plans
  const given = sql<PlanFeatures | null>`iif(${fits}, ${plans.features}, 'null')`.mapWith(plans.features)
  return {
    features: listFeatures(db, projectId),
    plans: db
      .select({ id, key, name, rank, state, features: given.as('given'), revision, updated_at })
      .from(plans)
      .where(eq(plans.project_id, projectId))
      .orderBy(asc(plans.key)),
    refs: mappedPrices(db, projectId),
    contents: contentsRead(db, projectId),
    project: db.select({ settings: projects.settings }).from(projects).where(eq(projects.id, projectId)),
  }
}

/**
 * What {@link catalogOf} has read.
 *
 * @throws {Fault} `payload_too_large` for a catalog that is larger than a project can make it today
 */
export async function catalogIn(found: Results<ReturnType<typeof catalogOf>>): Promise<CatalogState> {
  const { refs, contents, project } = found
  const settings = ofCatalog(settingsOf(project[0]?.settings ?? null))
  const rows = found.plans.map(({ features, ...plan }) => {
    if (features === null) throw tooLarge()
    return { ...plan, features }
  })
  return {
    version: await catalogVersion(contents),
    contents: contents[0]?.text ?? '',
    features: found.features,
    plans: withPrices(rows, refs),
    settings: { ...settings, default_plan: rows.find(({ id }) => id === settings.default_plan)?.key ?? null },
  }
}

/** Reads what the version is made from. */
export function contentsRead(db: Db, projectId: string) {
  return raw(db, { text: sql<string>`${catalogContents(projectId)}` }, (fields) => sql`SELECT ${fields}`)
}

/** The version of a catalog: its entity tag without the quotes. */
export async function catalogVersion(contents: readonly { text: string }[]): Promise<string> {
  return (await etagOfContents(contents[0]?.text ?? '')).slice(1, -1)
}

/**
 * A text that differs whenever the catalog differs, as an expression: the features as they are, the revisions of the plans, and the settings
 * that are in the document.
 */
export function catalogContents(projectId: string): SQL {
  const rowsOf = (row: SQL, from: SQL) =>
    sql`(SELECT json_group_array(json(one)) FROM (SELECT ${row} AS one FROM ${from}))`
  const { key, name, type, combine } = features
  const all = rowsOf(
    sql`json_array(${key}, ${name}, ${type}, ${combine})`,
    sql`${features} WHERE ${features.project_id} = ${projectId} ORDER BY ${key}`,
  )
  const revisions = rowsOf(
    sql`json_array(${plans.id}, ${plans.revision})`,
    sql`${plans} WHERE ${plans.project_id} = ${projectId} ORDER BY ${plans.id}`,
  )
  // As texts: null is a value of some settings, and not the same as none.
  const set = CATALOG_SETTINGS.map((name) => sql`(${projects.settings} -> ${name}) || ''`)
  const settings = sql`(SELECT json_array(${sql.join(set, sql`, `)}) FROM ${projects} WHERE ${projects.id} = ${projectId})`
  return sql`json_array(json(${all}), json(${revisions}), json(${settings}))`
}

function tooLarge(): Fault {
  const words = `The plans of this project have more than ${MAX_CATALOG_BYTES.toLocaleString('en')} bytes of features.`
  return new Fault('payload_too_large', `${words} Read and change the plans one by one.`)
}
