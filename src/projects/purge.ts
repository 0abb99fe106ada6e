import { and, eq, gt, isNotNull, isNull, lte, or } from 'drizzle-orm'
import { type Database, type Db, type Directory, run } from '../db/client'
import type { Project } from '../tenancy/project'
import { projects } from '../tenancy/schema'

/**
 * Reads the next deleted project, after the project `after`, whose rows this database is to delete: of its own projects,
 * those whose time is over; of the directory's copies, those whose store has nothing left of them.
 */
export function nextToPurge(db: Database, { store, after, now }: { store: number; after: string; now: number }) {
  const over = and(eq(projects.store, store), lte(projects.purge_at, now))
  return db
    .select()
    .from(projects)
    .where(and(isNotNull(projects.deleted_at), gt(projects.id, after), or(isNotNull(projects.purging_since), over)))
    .orderBy(projects.id)
    .limit(1)
}

/** Begins to delete the rows of a project whose time is over. From then on, nothing restores it. @returns whether it did */
export async function beginPurge(db: Db, id: string, now: number): Promise<boolean> {
  const over = and(eq(projects.id, id), isNull(projects.purging_since), lte(projects.purge_at, now))
  const begun = db.update(projects).set({ purging_since: now }).where(over).returning({ id: projects.id })
  return (await run(db, begun)).length > 0
}

/** Deletes the row of a project that has no others. */
export async function deleteLast(db: Db, id: string): Promise<void> {
  await run(db, db.delete(projects).where(and(eq(projects.id, id), isNotNull(projects.purging_since))))
}

/** Notes in the directory that the store of a project has nothing left of it, so that the directory deletes its own rows. */
export async function handOver(
  directory: Directory,
  { id, deleted_at, purge_at, purging_since }: Project,
): Promise<void> {
  const set = { deleted_at, purge_at, purging_since }
  await run(directory, directory.update(projects).set(set).where(eq(projects.id, id)))
}
