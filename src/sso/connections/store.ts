import { and, eq, getTableColumns, isNull, not, type SQL, sql } from 'drizzle-orm'
import type { Directory } from '../../db/client'
import { domains } from '../../domains/schema'
import { HELD } from '../../domains/store'
import { isDeleted } from '../../projects/ended-store'
import { ssoConnections } from '../schema'

/** A connection. `surface_host`: the host that shows its sign-in; null for the deployment's own. */
export type SsoConnection = Awaited<ReturnType<typeof findConnectionById>>[number]

/** Reads a connection of any project that is not deleted. Browsers know only its id. */
export function findConnectionById(directory: Directory, id: string | SQL) {
  return selectConnections(
    directory,
    and(eq(ssoConnections.id, id), isNull(ssoConnections.deleted_at), not(isDeleted(ssoConnections.project_id))),
  )
}

/** Reads a connection of the project, in any state. */
export function findConnection(directory: Directory, projectId: string, id: string) {
  return selectConnections(
    directory,
    and(eq(ssoConnections.project_id, projectId), eq(ssoConnections.id, id), isNull(ssoConnections.deleted_at)),
  )
}

export function selectConnections(directory: Directory, condition: SQL | undefined) {
  const surface = and(
    eq(domains.project_id, ssoConnections.project_id),
    sql`${domains.id} = ${ssoConnections.settings} ->> 'surface_id'`,
    eq(domains.purpose, 'surface'),
    sql`${domains.state} IN (${HELD})`,
  )
  return directory
    .select({
      ...getTableColumns(ssoConnections),
      surface_host: sql<string | null>`${domains.hostname}`.as('surface_host'),
    })
    .from(ssoConnections)
    .leftJoin(domains, surface)
    .where(condition)
    .$dynamic()
}
