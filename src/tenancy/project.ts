import { type Column, eq, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, type Directory, type Held, prepared } from '../db/client'
import { json } from '../db/sql'
import { projects } from './schema'
import type { Settings } from './settings'

/** Reads a project as the directory has it. */
export function findCopy(directory: Directory, id: string) {
  return directory.select({ id: projects.id, name: projects.name }).from(projects).where(eq(projects.id, id))
}

export type Project = typeof projects.$inferSelect

/** Reads a project of this store. */
export const findProject = prepared((db: Db, { id }: { id: Held<string> }) =>
  db.select().from(projects).where(eq(projects.id, id)),
)

/** Reads the settings of a project of this store, as they are stored. */
export function findSettings(db: Db, id: string) {
  return db.select({ settings: projects.settings }).from(projects).where(eq(projects.id, id))
}

const p = alias(projects, 'p')

/** The settings of a row's project as they are stored, as a column of a statement: one row read. */
export function settingsFor(projectId: Column) {
  return json<Partial<Settings> | null>(
    sql`(SELECT ${p.settings} FROM ${projects} ${p} WHERE ${p.id} = ${projectId})`,
  ).as('settings')
}

const gone = alias(projects, 'gone')

/**
 * Whether a project is deleted, as this database has it: a condition for statements about its rows. The index holds only
 * deleted projects, so it reads no row for any other.
 */
export function isDeleted(projectId: Column | SQL | string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${projects} ${gone} INDEXED BY projects_deleted
    WHERE ${gone.id} = ${projectId} AND ${gone.deleted_at} IS NOT NULL)`
}
