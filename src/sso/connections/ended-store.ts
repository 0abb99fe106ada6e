import { and, eq, isNotNull, lt, notExists, type SQL, sql } from 'drizzle-orm'
import { type Directory, run } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { ssoConnections, ssoIdentities } from '../../identities/schema'
import { DELETED_KEPT_FOR } from '../limits'

/** Deletes the identities of connections that were deleted: no sign-in adds one to those. @returns how many; at most `most` */
export async function purgeIdentities(directory: Directory, _now: number, most: number): Promise<number> {
  const { connection_id, issuer, subject } = ssoIdentities
  const deleted = isNotNull(ssoConnections.deleted_at)
  const theirs = sql`${connection_id} IN ${directory.select({ id: ssoConnections.id }).from(ssoConnections).where(deleted)}`
  const gone = await run(
    directory,
    deleteSome(directory, ssoIdentities, [connection_id, issuer, subject], theirs, most),
  )
  return gone.length
}

/** Deletes connections that were deleted more than {@link DELETED_KEPT_FOR} ago. @returns how many; at most `most` */
export async function purgeConnections(directory: Directory, now: number, most: number): Promise<number> {
  const { project_id, id, deleted_at } = ssoConnections
  const identities = directory.select({ one: sql`1` }).from(ssoIdentities).where(eq(ssoIdentities.connection_id, id))
  const old = and(isNotNull(deleted_at), lt(deleted_at, now - DELETED_KEPT_FOR), notExists(identities)) as SQL
  return (await run(directory, deleteSome(directory, ssoConnections, [project_id, id], old, most))).length
}
