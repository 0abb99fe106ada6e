import { type Column, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { projects } from './schema'

const gone = alias(projects, 'gone')

/**
 * Whether a project is deleted, as this database has it: a condition for statements about its rows. The index holds only
 * deleted projects, so it reads no row for any other.
 */
export function isDeleted(projectId: Column | SQL | string): SQL {
  return sql`EXISTS (SELECT 1 FROM ${projects} ${gone} INDEXED BY projects_deleted
    WHERE ${gone.id} = ${projectId} AND ${gone.deleted_at} IS NOT NULL)`
}
