import { eq, type SQL, sql } from 'drizzle-orm'
import { auditedFrom, type Change } from '../audit/store'
import { type Database, run } from '../db/client'
import { projects } from './schema'
import { DEFAULTS, type Settings, type SettingsChange } from './settings'

/** The settings of a project with a change, as an expression. */
export function patched(settings: SettingsChange): SQL {
  const set = Object.entries(settings).map(([name, value]) => sql`, ${`$.${name}`}, json(${JSON.stringify(value)})`)
  // json_patch would take null as "remove", but null is a value of some settings.
  return sql`json_set(${projects.settings}${sql.join(set)})`
}

/** An audit entry about settings of a project: the new values, and the old ones under `before`. */
export function settingsEntry(id: string, settings: SettingsChange, before: SettingsChange) {
  const details = { ...settings, before }
  return { project_id: id, action: 'project.settings_changed', object_type: 'project', object_id: id, details }
}

/**
 * The audit entry about a change of settings, for the batch that makes it. It must come before the change in the batch, because it reads
 * the values that the change replaces.
 *
 * @param allowed the condition of the change
 */
export function settingsAudited(
  db: Database,
  change: Change,
  { id, settings }: { id: string; settings: SettingsChange },
  allowed: SQL | undefined,
) {
  const { project_id: _, ...entry } = settingsEntry(id, settings, {})
  const before = (Object.keys(settings) as (keyof Settings)[]).map(
    (name) => sql`${name}, json(coalesce(${projects.settings} -> ${name}, ${JSON.stringify(DEFAULTS[name])}))`,
  )
  const details = sql`json_set(${JSON.stringify(settings)}, '$.before', json_object(${sql.join(before, sql`, `)}))`
  const taken = { project_id: projects.id, details }
  return auditedFrom(db, change, entry, { taken, from: sql`FROM ${projects} WHERE ${allowed}` })
}

/** Copies settings of a project to the database that only shows them. */
export async function copySettings(db: Database, id: string, settings: SettingsChange): Promise<void> {
  const after = patched(settings)
  await run(db, db.update(projects).set({ settings: after }).where(eq(projects.id, id)))
}
