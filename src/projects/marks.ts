import { and, eq, gt, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { type Database, type Db, type Directory, run } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { ifAnswered } from '../http/read'
import type { Project } from '../tenancy/project'
import { projects } from '../tenancy/schema'
import { hasOwner } from './in-directory'

/** Deleted projects that one step looks at. */
const AT_ONCE = 1000

/**
 * Copies the marks of deleted and restored projects to the directory, if the call that set them in their store did not
 * reach it. This is one step over the deleted projects of the store, starting after the project `after`.
 *
 * @returns the project after which the next step continues; null once all are done
 */
export async function mendMarks(rt: Runtime, after: string): Promise<{ done: number; after: string | null }> {
  const { db, directory, store } = rt
  const [inStore, inDirectory] = await Promise.all([
    run(db, listMarked(db, store, after, AT_ONCE)),
    ifAnswered(directory, listMarked(directory, store, after, AT_ONCE)),
  ])
  if (!inDirectory) return { done: 0, after: null } // The next hour's pass looks again.
  // A list that is cut off says nothing about what follows it.
  const ends = [inStore, inDirectory].flatMap((list) => (list.length === AT_ONCE ? [list.at(-1)?.id ?? ''] : []))
  const until = ends.sort()[0] ?? null
  const upTo = <T extends { id: string }>(list: readonly T[]) => list.filter(({ id }) => until === null || id <= until)
  const copied = new Map(upTo(inDirectory).map((row) => [row.id, row.purge_at]))
  const deleted = upTo(inStore).filter(({ id, purge_at }) => copied.get(id) !== purge_at)
  const marked = new Set(inStore.map(({ id }) => id))
  const unsure = [...copied.keys()].filter((id) => !marked.has(id))
  const live = unsure.length > 0 ? await run(db, notDeleted(db, unsure)) : []
  if (deleted.length > 0) await copyAllMarks(directory, deleted)
  if (live.length > 0) await restoreOwned(rt, inDirectory, new Set(live.map(({ id }) => id)))
  return { done: deleted.length + live.length, after: until }
}

/**
 * Restores in the directory what was restored in the store. A project whose last owner has left meanwhile is deleted in
 * the store again: the directory let them go because it had the project as deleted.
 *
 * @param ids of projects that the store has restored
 */
async function restoreOwned({ db, directory, store }: Runtime, marked: readonly Marked[], ids: ReadonlySet<string>) {
  const owned = new Set(await unmarkOwned(directory, [...ids]))
  const ownerless = marked.filter(({ id }) => ids.has(id) && !owned.has(id))
  if (ownerless.length === 0) return
  await copyAllMarks(db, ownerless)
  writeLog('warn', 'ownerless_projects', { store, project_ids: ownerless.map(({ id }) => id) })
}

const marks = { id: projects.id, deleted_at: projects.deleted_at, purge_at: projects.purge_at }

/** Reads the deleted projects of a store, in the order of their ids, as a database has them. */
export function listMarked(db: Database, store: number, after: string, most: number) {
  return db
    .select(marks)
    .from(projects)
    .where(and(isNotNull(projects.deleted_at), eq(projects.store, store), gt(projects.id, after)))
    .orderBy(projects.id)
    .limit(most)
}

/** Reads which of these projects a store has and has not deleted. */
export function notDeleted(db: Db, ids: readonly string[]) {
  return db
    .select({ id: projects.id })
    .from(projects)
    .where(and(inArray(projects.id, valuesOf(ids)), isNull(projects.deleted_at)))
}

/** Gives projects these marks, in a database that has other ones. */
export async function copyAllMarks(db: Database, rows: readonly Marked[]): Promise<void> {
  await run(db, marksCopied(db, rows))
}

/**
 * Removes the marks of deleted projects in the directory, except of those without an owner.
 *
 * @returns the ids of the projects that it did this for
 */
export async function unmarkOwned(directory: Directory, ids: readonly string[]): Promise<string[]> {
  const rows = ids.map((id) => ({ id, deleted_at: null, purge_at: null }))
  const owned = marksCopied(directory, rows, hasOwner(directory, projects.id))
  return (await run(directory, owned)).map(({ id }) => id)
}

function marksCopied(db: Database, rows: readonly Marked[], condition?: SQL) {
  const field = (name: 'deleted_at' | 'purge_at') => sql`j.value ->> ${sql.raw(`'${name}'`)}`
  return db
    .update(projects)
    .set({ deleted_at: field('deleted_at'), purge_at: field('purge_at') })
    .from(sql`json_each(${JSON.stringify(rows)}) j`)
    .where(and(eq(projects.id, sql`j.value ->> 'id'`), condition))
    .returning({ id: projects.id })
}

/** The marks of a project in its store. Both are null if the project is not deleted. */
export type Marked = Pick<Project, 'id' | 'deleted_at' | 'purge_at'>
