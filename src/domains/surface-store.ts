import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { projects } from '../tenancy/schema'
import { domains } from './schema'
import { HELD } from './store'

/** Reads the project that holds a host. A deleted project serves nothing. */
export function findSurface(directory: Directory, hostname: string) {
  return directory
    .select({ project_id: domains.project_id, domain_id: domains.id })
    .from(domains)
    .innerJoin(projects, and(eq(projects.id, domains.project_id), isNull(projects.deleted_at)))
    .where(and(eq(domains.hostname, hostname), sql`${domains.purpose} = 'surface'`, sql`${domains.state} IN (${HELD})`))
}
