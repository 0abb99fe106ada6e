import { and, eq, gt, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { type Database, type Db, type Directory, run } from '../db/client'
import { valuesOf } from '../db/sql'
import { projects } from '../tenancy/schema'
import { hasOwner } from './directory-store'
import type { Marked } from './end-store'

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
