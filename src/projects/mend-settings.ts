import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { type Database, type Db, type Directory, run } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { projects } from '../tenancy/schema'
import { ofDirectory, ofStore, type SettingsChange, settingsOf } from '../tenancy/settings'

/** Projects that one step looks at. */
const AT_ONCE = 1000

/**
 * Copies settings from the database that decides to the one that only shows them, if the call that changed them did not get
 * that far. This is one step over the projects of the store, starting after the project `after`.
 *
 * @returns the project after which the next step continues; null once all are done
 */
export async function mendSettings(
  { db, directory, store }: Runtime,
  after: string,
): Promise<{ done: number; after: string | null }> {
  const inStore = await run(db, listSettings(db, store, after, AT_ONCE))
  const ids = inStore.map(({ id }) => id)
  const found = ids.length > 0 ? await ifAnswered(directory, settingsInDirectory(directory, ids)) : []
  if (!found) return { done: 0, after: null } // The next hour's pass looks again.
  const inDirectory = new Map(found.map(({ id, text }) => [id, text]))
  const toStore: Copy[] = []
  const toDirectory: Copy[] = []
  for (const { id, text } of inStore) {
    const other = inDirectory.get(id)
    if (other === undefined || other === text) continue
    const own = settingsOf(JSON.parse(text))
    const copied = settingsOf(JSON.parse(other))
    const owned = ofDirectory(copied)
    if (JSON.stringify(owned) !== JSON.stringify(ofDirectory(own))) toStore.push({ id, text, change: owned })
    const change = ofStore(own)
    if (JSON.stringify(change) !== JSON.stringify(ofStore(copied))) toDirectory.push({ id, text: other, change })
  }
  await copyAll(db, toStore)
  await copyAll(directory, toDirectory)
  return { done: toStore.length + toDirectory.length, after: ids.length < AT_ONCE ? null : (ids.at(-1) ?? null) }
}

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
