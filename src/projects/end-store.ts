import { and, eq, gt, isNull, type SQL } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db, type Directory, run } from '../db/client'
import { findProject, type Project } from '../tenancy/project'
import { projects } from '../tenancy/schema'
import { hasOwner } from './directory-store'
import { entry } from './store'

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
 * @param condition a further one
 * @returns it as it is then; null if there is no such project
 */
export async function unmarkDeleted(
  db: Db,
  { id, name }: Pick<Project, 'id' | 'name'>,
  condition: SQL | undefined,
  change: Change,
): Promise<Project | null> {
  // Once its rows are being deleted, no clock that is behind may restore it.
  const inTime = and(gt(projects.purge_at, change.now), isNull(projects.purging_since))
  const restored = db
    .update(projects)
    .set({ deleted_at: null, purge_at: null })
    .where(and(eq(projects.id, id), inTime, condition))
  const { project } = await batch(db, {
    ...audited(db, change, entry(id, 'project.restored', name), restored),
    project: findProject(db, id),
  })
  return project[0] ?? null
}

/**
 * Copies the marks of a project from its store to the directory. A live project must have an owner: so a deleted one that has
 * none stays deleted here.
 *
 * @returns whether it did
 */
export async function copyMarks(directory: Directory, { id, deleted_at, purge_at }: Marked): Promise<boolean> {
  const kept = deleted_at === null ? hasOwner(directory, projects.id) : undefined
  const copied = directory
    .update(projects)
    .set({ deleted_at, purge_at })
    .where(and(eq(projects.id, id), kept))
    .returning({ id: projects.id })
  return (await run(directory, copied)).length > 0
}
