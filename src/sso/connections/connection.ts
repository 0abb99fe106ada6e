import {
  and,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  not,
  notExists,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Directory, run } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { json, valuesOf } from '../../db/sql'
import { HELD, holdersOfEmailDomain } from '../../domains/domain'
import { domains } from '../../domains/schema'
import { ssoConnectionDomains, ssoConnections, ssoIdentities } from '../../identities/schema'
import { isDeleted } from '../../tenancy/project'
import { projects } from '../../tenancy/schema'
import { DELETED_KEPT_FOR } from '../limits'

/**
 * A connection. `surface_host`: the host that shows its sign-in; null for the deployment's own. `enforced`: whether its
 * project enforces it.
 */
export type SsoConnection = Awaited<ReturnType<typeof findSsoConnectionById>>[number]
/** A domain of a connection, and whether the project holds it now. */
type ConnectionDomain = { id: string; hostname: string; verified: boolean }

const surface = alias(domains, 'surface')

/** Reads a connection of any project that is not deleted. Browsers know only its id. */
export function findSsoConnectionById(directory: Directory, id: string | SQL) {
  return selectConnections(
    directory,
    and(eq(ssoConnections.id, id), isNull(ssoConnections.deleted_at), not(isDeleted(ssoConnections.project_id))),
  )
}

/** Reads a connection of the project, in any state. */
export function findSsoConnection(directory: Directory, projectId: string, id: string | SQL) {
  return selectConnections(directory, isLiveConnection(projectId, id))
}

/** Reads the project's connections, newest first, from before the connection `before`. */
export function listSsoConnections(directory: Directory, projectId: string, before: string | null, limit: number) {
  const ofProject = and(eq(ssoConnections.project_id, projectId), isNull(ssoConnections.deleted_at))
  return selectConnections(directory, and(ofProject, before === null ? undefined : lt(ssoConnections.id, before)))
    .orderBy(desc(ssoConnections.id))
    .limit(limit)
}

/** The project's connection with this id, unless it was deleted. */
export function isLiveConnection(projectId: string, id: string | SQL) {
  return and(eq(ssoConnections.project_id, projectId), eq(ssoConnections.id, id), isNull(ssoConnections.deleted_at))
}

/** Whether a connection may vouch for a domain that its project holds now. @param ofDomain which of its domains */
export function holdsDomain(projectId: string, id: string, ofDomain?: SQL): SQL {
  const { project_id, connection_id, domain_id } = ssoConnectionDomains
  return sql`EXISTS (SELECT 1 FROM ${ssoConnectionDomains}
    INNER JOIN ${domains} ON ${eq(domains.project_id, project_id)} AND ${eq(domains.id, domain_id)}
    WHERE ${eq(project_id, projectId)} AND ${eq(connection_id, id)} AND ${isHeld(domains, ofDomain)})`
}

/** A domain whose email addresses its project holds now. */
export function isHeld({ purpose, state }: Pick<typeof domains, 'purpose' | 'state'>, ofDomain?: SQL): SQL {
  return sql`${and(eq(purpose, 'sso'), sql`${state} IN (${HELD})`, ofDomain)}`
}

export function selectConnections(directory: Directory, condition: SQL | undefined) {
  const shown = and(
    eq(surface.project_id, ssoConnections.project_id),
    sql`${surface.id} = ${ssoConnections.settings} ->> 'surface_id'`,
    eq(surface.purpose, 'surface'),
    sql`${surface.state} IN (${HELD})`,
  )
  const verified = sql`json(iif(${isHeld(domains)}, 'true', 'false'))`
  const own = sql`SELECT json_group_array(json_object('id', ${domains.id}, 'hostname', ${domains.hostname}, 'verified', ${verified}))
    FROM ${ssoConnectionDomains}
    INNER JOIN ${domains} ON ${eq(domains.project_id, ssoConnectionDomains.project_id)}
      AND ${eq(domains.id, ssoConnectionDomains.domain_id)} AND ${domains.state} <> 'released'
    WHERE ${eq(ssoConnectionDomains.project_id, ssoConnections.project_id)}
      AND ${eq(ssoConnectionDomains.connection_id, ssoConnections.id)}`
  return directory
    .select({
      ...getTableColumns(ssoConnections),
      surface_host: sql<string | null>`${surface.hostname}`.as('surface_host'),
      domains: json<ConnectionDomain[]>(sql`(${own})`).as('domains'),
      enforced: sql<boolean>`coalesce(${projects.sso_enforced_by} = ${ssoConnections.id}, 0)`
        .mapWith(Boolean)
        .as('enforced'),
    })
    .from(ssoConnections)
    .innerJoin(projects, eq(projects.id, ssoConnections.project_id))
    .leftJoin(surface, shown)
    .where(condition)
    .$dynamic()
}

/** A domain that a connection can have. */
export type OfferedDomain = ConnectionDomain & { purpose: 'sso' | 'surface' }

/** Reads the domains of a project that a connection can have, by name. @param ids only these; by default all of them */
export function offeredDomains(directory: Directory, projectId: string, ids?: readonly string[]) {
  const { id, hostname, purpose, state } = domains
  const named = ids && inArray(id, valuesOf(ids))
  return directory
    .select({ id, hostname, purpose, verified: sql<boolean>`(${state} IN (${HELD}))`.mapWith(Boolean).as('verified') })
    .from(domains)
    .where(and(eq(domains.project_id, projectId), sql`${state} <> 'released'`, named))
    .orderBy(hostname)
}

/** Deletes the identities of connections that were deleted: no sign-in adds one to those. @returns how many; at most `most` */
export async function purgeIdentities(directory: Directory, _now: number, most: number): Promise<number> {
  const { connection_id, issuer, subject } = ssoIdentities
  const deleted = isNotNull(ssoConnections.deleted_at)
  const theirs = sql`${connection_id} IN ${directory.select({ id: ssoConnections.id }).from(ssoConnections).where(deleted)}`
  const gone = await run(
    directory,
    deleteSome(directory, ssoIdentities, { key: [connection_id, issuer, subject], where: theirs, most }),
  )
  return gone.length
}

/** Deletes connections that were deleted more than {@link DELETED_KEPT_FOR} ago. @returns how many; at most `most` */
export async function purgeConnections(directory: Directory, now: number, most: number): Promise<number> {
  const { project_id, id, deleted_at } = ssoConnections
  const identities = directory.select({ one: sql`1` }).from(ssoIdentities).where(eq(ssoIdentities.connection_id, id))
  const old = and(isNotNull(deleted_at), lt(deleted_at, now - DELETED_KEPT_FOR), notExists(identities)) as SQL
  return (await run(directory, deleteSome(directory, ssoConnections, { key: [project_id, id], where: old, most })))
    .length
}

const d = alias(ssoConnectionDomains, 'd')

/** Reads the connection for customers that has an email domain which the project holds now. */
export function findByEmailDomain(directory: Directory, projectId: string, hostname: string) {
  const id = sql`(SELECT ${d.connection_id} FROM ${holdersOfEmailDomain(hostname)} h
    CROSS JOIN ${ssoConnectionDomains} ${d} ON ${d.project_id} = h.project_id AND ${d.domain_id} = h.id
    WHERE h.project_id = ${projectId} AND ${d.audience} = 'customers')`
  return findSsoConnection(directory, projectId, id)
}
