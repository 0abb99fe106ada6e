import { and, desc, eq, getTableColumns, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import { sessions } from '../../accounts/schema'
import { audited, type Change } from '../../audit/store'
import { batch, type Directory } from '../../db/client'
import { valuesOf } from '../../db/sql'
import { ssoConnections, ssoIdentities } from '../../identities/schema'

export type Identity = typeof ssoIdentities.$inferSelect
/** An identity, and what its connection is called. */
export type NamedIdentity = ReturnType<typeof listIdentities>['_']['result'][number]
type Asked = {
  /** The ids of a consumer and of those that were merged into it: an identity keeps the one that it was linked to. */
  consumers?: readonly string[] | undefined
  user_id?: string | undefined
  id?: string | undefined
  before: string | null
  take: number
}

/**
 * Reads identities of a project's connections, newest first, starting after the identity `before`. The connections are read once,
 * because their rows are large, and one person can have thousands of identities.
 */
export function listIdentities(
  directory: Directory,
  projectId: string,
  { consumers, user_id, id, before, take }: Asked,
) {
  const live = directory
    .select({ id: ssoConnections.id })
    .from(ssoConnections)
    .where(and(eq(ssoConnections.project_id, projectId), isNull(ssoConnections.deleted_at)))
  const own = eq(ssoIdentities.project_id, projectId)
  const shown = directory
    .select({ id: ssoIdentities.id })
    .from(ssoIdentities)
    .where(
      and(
        own,
        // IS NOT NULL as the partial index has it.
        consumers && and(isNotNull(ssoIdentities.consumer_id), inArray(ssoIdentities.consumer_id, valuesOf(consumers))),
        id === undefined ? undefined : eq(ssoIdentities.id, id),
        user_id === undefined ? undefined : eq(ssoIdentities.user_id, user_id),
        before === null ? undefined : lt(ssoIdentities.id, before),
        // Without the plus, SQLite could look for all identities of these connections.
        inArray(sql`+${ssoIdentities.connection_id}`, live),
      ),
    )
    // One person has few identities. Without the plus, SQLite would look for them among all of the project, in order.
    .orderBy(consumers || user_id !== undefined ? sql`+${ssoIdentities.id} DESC` : desc(ssoIdentities.id))
    .limit(take)
  return directory
    .select({ ...getTableColumns(ssoIdentities), connection: ssoConnections.name })
    .from(ssoIdentities)
    .crossJoin(ssoConnections)
    .where(
      and(
        own,
        inArray(ssoIdentities.id, shown),
        eq(ssoConnections.project_id, projectId),
        eq(ssoConnections.id, ssoIdentities.connection_id),
      ),
    )
    .orderBy(desc(ssoIdentities.id))
}

/** Removes an identity, and ends the sessions of its user that its connection opened. @returns whether it was there */
export async function deleteIdentity(
  directory: Directory,
  projectId: string,
  id: string,
  change: Change,
): Promise<boolean> {
  const own = and(eq(ssoIdentities.project_id, projectId), eq(ssoIdentities.id, id))
  const opened = directory
    .select({ one: sql`1` })
    .from(ssoIdentities)
    .where(
      and(own, eq(ssoIdentities.user_id, sessions.user_id), eq(ssoIdentities.connection_id, sessions.connection_id)),
    )
  const ofUser = sql`${sessions.user_id} = (SELECT ${ssoIdentities.user_id} FROM ${ssoIdentities} WHERE ${own})`
  const entry = { project_id: projectId, action: 'sso_identity.deleted', object_type: 'sso_identity', object_id: id }
  const { changed } = await batch(directory, {
    ended: directory.delete(sessions).where(and(ofUser, sql`EXISTS ${opened}`)),
    ...audited(
      directory,
      change,
      entry,
      directory.delete(ssoIdentities).where(own).returning({ id: ssoIdentities.id }),
    ),
  })
  return changed.length > 0
}
