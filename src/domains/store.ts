import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Directory, raw } from '../db/client'
import { domains } from './schema'

const h = alias(domains, 'h')

/** The states in which a project holds a name. As literals, so that the partial indexes can be used. */
export const HELD = sql.raw("'verified', 'grace'")

/**
 * Whether a project has verified this email domain, and holds it now: a condition for any statement of the directory.
 *
 * @param projectId the project, or the column that has it
 * @param id the id of the domain, or the column that has it
 */
export function holdsEmailDomain(projectId: string | SQLWrapper, id: string | SQLWrapper): SQL {
  return sql`EXISTS (SELECT 1 FROM ${domains} ${h} WHERE ${h.project_id} = ${projectId} AND ${h.id} = ${id}
    AND ${h.purpose} = 'sso' AND ${h.state} IN (${HELD}))`
}

/**
 * The projects that hold an email domain now, with the id of it in each: the end of a FROM, to join with other tables of
 * the directory. Its columns are `project_id` and `id`.
 *
 * @param hostname the part of an address after the @, in lower case and A-labels (names.ts), or a column that has it
 */
export function holdersOfEmailDomain(hostname: string | SQLWrapper): SQL {
  return sql`(SELECT ${h.project_id}, ${h.id} FROM ${domains} ${h} INDEXED BY domains_held
    WHERE ${h.hostname} = ${hostname} AND ${h.purpose} = 'sso' AND ${h.state} IN (${HELD}))`
}

/** Reads the projects that hold an email domain now. */
export function listHolders(directory: Directory, hostname: string) {
  return raw(
    directory,
    { project_id: sql<string>`project_id`, id: sql<string>`id` },
    (fields) => sql`SELECT ${fields} FROM ${holdersOfEmailDomain(hostname)}`,
  )
}

/** Reads a domain of a project. */
export function findDomain(directory: Directory, projectId: string, id: string) {
  return directory
    .select()
    .from(domains)
    .where(and(eq(domains.project_id, projectId), eq(domains.id, id)))
}

export type Domain = typeof domains.$inferSelect
