import { eq, type SQL, sql } from 'drizzle-orm'
import { type Database, run } from '../db/client'
import { projects } from './schema'
import type { SettingsChange } from './settings'

/** The settings of a project with a change, as an expression. */
export function patched(settings: SettingsChange): SQL {
  const set = Object.entries(settings).map(([name, value]) => sql`, ${`$.${name}`}, json(${JSON.stringify(value)})`)
  // json_patch would take null as "remove", but null is a value of some settings.
  return sql`json_set(${projects.settings}${sql.join(set)})`
}

/** An audit entry about settings of a project. */
export function settingsEntry(id: string, details: SettingsChange) {
  return { project_id: id, action: 'project.settings_changed', object_type: 'project', object_id: id, details }
}

/** Copies settings of a project to the database that only shows them. */
export async function copySettings(db: Database, id: string, settings: SettingsChange): Promise<void> {
  const after = patched(settings)
  await run(db, db.update(projects).set({ settings: after }).where(eq(projects.id, id)))
}
