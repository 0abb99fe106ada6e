import { and, desc, eq, isNull, lt, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Directory } from '../db/client'
import { projects } from '../tenancy/schema'
import { type DomainState, domains, type Purpose } from './schema'

const h = alias(domains, 'h')

export type Domain = typeof domains.$inferSelect

/** The states in which a project holds a name. As literals, so that the partial indexes can be used. */
export const HELD = sql.raw("'verified', 'grace'")

/**
 * The projects that hold an email domain now, with the id of it in each: the end of a FROM, to join with other tables of
 * the directory. Its columns are `project_id` and `id`.
 *
 * @param hostname the part of an address after the @, as `hostnameOf` of names.ts makes it, or a column that has it
 */
export function holdersOfEmailDomain(hostname: string | SQLWrapper): SQL {
  return sql`(SELECT ${h.project_id}, ${h.id} FROM ${domains} ${h} INDEXED BY domains_held
    WHERE ${h.hostname} = ${hostname} AND ${h.purpose} = 'sso' AND ${h.state} IN (${HELD}))`
}

/** Reads a domain of a project. */
export function findDomain(directory: Directory, projectId: string, id: string) {
  return directory.select().from(domains).where(isDomain(projectId, id))
}

/** Reads the domains of a project whose record is gone. The condition on the index makes it read no deleted ones. */
export function listInGrace(directory: Directory, projectId: string) {
  return directory
    .select({ id: domains.id, hostname: domains.hostname, purpose: domains.purpose, grace_until: domains.grace_until })
    .from(domains)
    .where(and(eq(domains.project_id, projectId), sql`${domains.state} <> 'released'`, sql`${domains.state} = 'grace'`))
}
export type InGrace = ReturnType<typeof listInGrace>['_']['result'][number]

/** The condition for one domain. */
export function isDomain(projectId: string, id: string): SQL {
  return and(eq(domains.project_id, projectId), eq(domains.id, id)) as SQL
}

/** What the audit log says of a domain in `from`. */
export function detailsOf({ hostname, purpose }: Pick<typeof domains, 'hostname' | 'purpose'>): SQL {
  return sql`json_object('hostname', ${hostname}, 'purpose', ${purpose})`
}

/** Reads the domains of a project, newest first, starting after the domain `before`. */
export function listDomains(
  directory: Directory,
  projectId: string,
  asked: { purpose?: Purpose | undefined; state?: DomainState | undefined; before: string | null; take: number },
) {
  const { purpose, state, before, take } = asked
  return directory
    .select()
    .from(domains)
    .where(
      and(
        eq(domains.project_id, projectId),
        before === null ? undefined : lt(domains.id, before),
        purpose && eq(domains.purpose, purpose),
        state ? eq(domains.state, state) : ne(domains.state, 'released'),
      ),
    )
    .orderBy(desc(domains.id))
    .limit(take)
}

/** What happened to a domain, for the audit log. */
export type DomainAction =
  | 'domain.added'
  | 'domain.verified'
  | 'domain.record_missing'
  | 'domain.failed'
  | 'domain.taken_over'
  | 'domain.retried'
  | 'domain.deleted'

/** The audit entry of a domain, without what the row itself says. */
export function domainEntry(id: string, action: DomainAction) {
  return { action, object_type: 'domain', object_id: id }
}

/** Reads the project that holds a host. A deleted project serves nothing. */
export function findSurface(directory: Directory, hostname: string) {
  return directory
    .select({ project_id: domains.project_id, domain_id: domains.id })
    .from(domains)
    .innerJoin(projects, and(eq(projects.id, domains.project_id), isNull(projects.deleted_at)))
    .where(and(eq(domains.hostname, hostname), sql`${domains.purpose} = 'surface'`, sql`${domains.state} IN (${HELD})`))
}
