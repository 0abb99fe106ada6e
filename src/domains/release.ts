import { and, eq, isNotNull, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory, raw, run } from '../db/client'
import { deleteSome } from '../db/delete-some'
import { ssoConnectionDomains } from '../identities/schema'
import { projects } from '../tenancy/schema'
import { type Domain, detailsOf, findDomain } from './domain'
import { RELEASED_KEPT_FOR } from './limits'
import { domains } from './schema'

const p = alias(projects, 'p')
const u = alias(ssoConnectionDomains, 'u')

/**
 * Releases a domain for good, unless the single sign-on that its project's team must use needs it.
 *
 * @param mayChangeSso whether the caller may release a domain for single sign-on
 * @returns the domain as it is then, and the connection that needs it
 */
export async function releaseDomain(
  directory: Directory,
  { project_id, id, mayChangeSso }: { project_id: string; id: string; mayChangeSso: boolean },
  change: Change,
): Promise<{ rows: Domain[]; needed: { connection_id: string }[] }> {
  const enforced = sql`FROM ${projects} ${p} CROSS JOIN ${ssoConnectionDomains} ${u}
    ON ${u.project_id} = ${p.id} AND ${u.domain_id} = ${id} AND ${u.connection_id} = ${p.sso_enforced_by}
    WHERE ${eq(p.id, project_id)} AND ${isNotNull(p.sso_enforced_by)}`
  const releasing = and(
    eq(domains.project_id, project_id),
    eq(domains.id, id),
    ne(domains.state, 'released'),
    mayChangeSso ? undefined : eq(domains.purpose, 'surface'),
    sql`NOT EXISTS (SELECT 1 ${enforced})`,
  ) as SQL
  const released = {
    state: 'released',
    state_since: change.now,
    absent: 0,
    absent_since: null,
    next_check_at: null,
    grace_until: null,
    version: sql`${domains.version} + 1`,
  } as const
  return batch(directory, {
    needed: raw(directory, { connection_id: u.connection_id }, (fields) => sql`SELECT ${fields} ${enforced} LIMIT 1`),
    audit: auditedFrom(
      directory,
      change,
      { action: 'domain.deleted', object_type: 'domain', object_id: id },
      {
        taken: { project_id: domains.project_id, details: detailsOf(domains) },
        from: sql`FROM ${domains} WHERE ${releasing}`,
      },
    ),
    released: directory.update(domains).set(released).where(releasing),
    rows: findDomain(directory, project_id, id),
  })
}

/** Deletes domains that were released long ago: at most `most`. @returns how many */
export async function purgeReleased(directory: Directory, now: number, most: number): Promise<number> {
  const { project_id, id, state, state_since } = domains
  const old = sql`${state} = 'released' AND ${state_since} < ${now - RELEASED_KEPT_FOR}`
  return (await run(directory, deleteSome(directory, domains, { key: [project_id, id], where: old, most }))).length
}
