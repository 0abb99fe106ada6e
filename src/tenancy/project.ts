import { eq } from 'drizzle-orm'
import type { Db, Directory } from '../db/client'
import { projects } from './schema'

/** Reads a project as the directory has it. */
export function findCopy(directory: Directory, id: string) {
  return directory.select({ id: projects.id, name: projects.name }).from(projects).where(eq(projects.id, id))
}

export type Project = typeof projects.$inferSelect

/** Reads a project of this store. */
export function findProject(db: Db, id: string) {
  return db.select().from(projects).where(eq(projects.id, id))
}
