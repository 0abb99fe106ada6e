import { and, eq, gt, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { type Database, type Db, type Directory, run } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Marked } from './end-store'
import { projects } from './schema'

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

/** Copies the marks of projects to the directory. */
export async function copyAllMarks(directory: Directory, rows: readonly Marked[]): Promise<void> {
  const field = (name: 'deleted_at' | 'purge_at') => sql`j.value ->> ${sql.raw(`'${name}'`)}`
  await run(
    directory,
    directory
      .update(projects)
      .set({ deleted_at: field('deleted_at'), purge_at: field('purge_at') })
      .from(sql`json_each(${JSON.stringify(rows)}) j`)
      .where(eq(projects.id, sql`j.value ->> 'id'`)),
  )
}
