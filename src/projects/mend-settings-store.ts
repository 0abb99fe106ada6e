import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { type Database, type Db, type Directory, run } from '../db/client'
import { valuesOf } from '../db/sql'
import { projects } from '../tenancy/schema'
import type { SettingsChange } from '../tenancy/settings'

/** The settings of a project as they are stored, as text. */
const columns = { id: projects.id, text: sql<string>`${projects.settings}`.as('text') }

/** Reads the settings of a store's own projects, in the order of their ids, starting after a project. */
export function listSettings(db: Db, store: number, after: string, most: number) {
  return db
    .select(columns)
    .from(projects)
    .where(and(eq(projects.store, store), gt(projects.id, after)))
    .orderBy(projects.id)
    .limit(most)
}

/** Reads the directory's settings of these projects. */
export function settingsInDirectory(directory: Directory, ids: readonly string[]) {
  return directory
    .select(columns)
    .from(projects)
    .where(inArray(projects.id, valuesOf(ids)))
}

/** Settings to copy over the settings of a project, which were read as `text`. */
export type Copy = { id: string; text: string; change: SettingsChange }

/** Copies settings. What has changed since it was read stays as it is. */
export async function copyAll(db: Database, rows: readonly Copy[]): Promise<void> {
  if (rows.length === 0) return
  // Not by json_patch, which takes null as "remove": null is a value of some settings.
  const after = rows.map(({ id, text, change }) => ({
    id,
    text,
    settings: JSON.stringify({ ...JSON.parse(text), ...change }),
  }))
  await run(
    db,
    db
      .update(projects)
      .set({ settings: sql`j.value ->> 'settings'` })
      .from(sql`json_each(${JSON.stringify(after)}) j`)
      .where(and(eq(projects.id, sql`j.value ->> 'id'`), eq(sql`${projects.settings}`, sql`j.value ->> 'text'`))),
  )
}
