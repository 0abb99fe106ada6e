import { and, eq, ne, sql } from 'drizzle-orm'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Db, type Directory, run } from '../db/client'
import type { Runtime } from '../env'
import { findProject, type Project } from '../tenancy/project'
import { projects } from '../tenancy/schema'
import { projectEntry } from './in-store'

/** Renames a project. The same name again changes nothing. @returns null if there is no such project */
export async function renameProject(db: Db, id: string, name: string, change: Change): Promise<Project | null> {
  const renaming = and(eq(projects.id, id), ne(projects.name, name))
  const details = sql`json_object('name', ${name}, 'before', json_object('name', ${projects.name}))`
  const { project } = await batch(db, {
    audited: auditedFrom(db, change, projectEntry(id, 'project.renamed', name), {
      taken: { project_id: projects.id, details },
      from: sql`FROM ${projects} WHERE ${renaming}`,
    }),
    renamed: db.update(projects).set({ name }).where(renaming),
    project: findProject(db, { id }),
  })
  return project[0] ?? null
}

/**
 * Renames a project in its store, and then its copy in the directory. The same name again repairs a copy that the last
 * call did not reach.
 *
 * @returns null if there is no such project
 */
export async function renameEverywhere(
  { db, directory, store }: Runtime,
  id: string,
  name: string,
  change: Change,
): Promise<Project | null> {
  const project = await renameProject(db, id, name, change)
  if (project && store !== 0) await renameCopy(directory, id, name)
  return project
}

/** Gives the copy of a project its name. */
export async function renameCopy(directory: Directory, id: string, name: string): Promise<void> {
  await run(directory, directory.update(projects).set({ name }).where(eq(projects.id, id)))
}
