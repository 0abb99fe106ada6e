import { and, eq, gt, isNull } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db, type Directory, run } from '../db/client'
import { projects } from './schema'
import { entry, findProject, type Project } from './store'

/** The marks of a project in its store. Both are null if the project is not deleted. */
export type Marked = Pick<Project, 'id' | 'deleted_at' | 'purge_at'>

/**
 * Marks a project of this store as deleted, if this is its name. A deleted one stays as it is.
 *
 * @returns it as it is then; null if there is no such project
 */
export async function markDeleted(
  db: Db,
  { id, name, purge_at }: { id: string; name: string; purge_at: number },
  change: Change,
): Promise<Project | null> {
  const deleted = db
    .update(projects)
    .set({ deleted_at: change.now, purge_at })
    .where(and(eq(projects.id, id), eq(projects.name, name), isNull(projects.deleted_at)))
  const { project } = await batch(db, {
    ...audited(db, change, entry(id, 'project.deleted', name), deleted),
    project: findProject(db, id),
  })
  return project[0] ?? null
}

/**
 * Restores a deleted project of this store, if the time for it is not over. Any other stays as it is.
 *
 * @returns it as it is then; null if there is no such project
 */
export async function unmarkDeleted(
  db: Db,
  { id, name }: Pick<Project, 'id' | 'name'>,
  change: Change,
): Promise<Project | null> {
  // Once its rows are being deleted, no clock that is behind may restore it.
  const inTime = and(gt(projects.purge_at, change.now), isNull(projects.purging_since))
  const restored = db
    .update(projects)
    .set({ deleted_at: null, purge_at: null })
    .where(and(eq(projects.id, id), inTime))
  const { project } = await batch(db, {
    ...audited(db, change, entry(id, 'project.restored', name), restored),
    project: findProject(db, id),
  })
  return project[0] ?? null
}

/** Copies the marks of a project from its store to the directory. */
export async function copyMarks(directory: Directory, { id, deleted_at, purge_at }: Marked): Promise<void> {
  await run(directory, directory.update(projects).set({ deleted_at, purge_at }).where(eq(projects.id, id)))
}
