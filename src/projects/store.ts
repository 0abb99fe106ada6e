import { and, eq, ne, type SQL } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db, run } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { projects } from './schema'

export type Project = typeof projects.$inferSelect

/** Reads a project of this store. */
export function findProject(db: Db, id: string) {
  return db.select().from(projects).where(eq(projects.id, id))
}

/** Inserts a project with its audit row, for a batch. */
export function projectCreated(db: Db, project: Project, change: Change, condition: SQL | undefined) {
  const { id, name } = project
  return audited(db, change, entry(id, 'project.created', name), insertWhere(db, projects, project, condition))
}

/** Renames a project. The same name again changes nothing. @returns null if there is no such project */
export async function renameProject(db: Db, id: string, name: string, change: Change): Promise<Project | null> {
  const renamed = db
    .update(projects)
    .set({ name })
    .where(and(eq(projects.id, id), ne(projects.name, name)))
  const { project } = await batch(db, {
    ...audited(db, change, entry(id, 'project.renamed', name), renamed),
    project: findProject(db, id),
  })
  return project[0] ?? null
}

/** Copies the settings of a project from the directory to its store. */
export async function copySettings(db: Db, { id, settings }: Pick<Project, 'id' | 'settings'>): Promise<void> {
  await run(db, db.update(projects).set({ settings }).where(eq(projects.id, id)))
}

/** An audit entry about a project. */
export function entry(id: string, action: string, name: string) {
  return { project_id: id, action, object_type: 'project', object_id: id, details: { name } }
}
