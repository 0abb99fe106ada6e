import { and, desc, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import type { Db, Query } from '../../db/client'
import { deleteSome } from '../../db/delete-some'
import { insertFrom } from '../../db/insert-from'
import { connections } from '../connections/schema'
import { ofConnection } from '../of-connection'
import { MAX_REMOVED, REMOVED_KEPT_FOR } from './limits'
import { removedSecrets } from './schema'

type OfConnection = { project_id: string; id: string }

/**
 * Keeps the secret of a connection that is about to be removed, sealed as it is: a statement that comes before the removal. Nothing is
 * kept of a secret that the connection does not have.
 *
 * @param of selects the connection
 */
export function removedKept(db: Db, of: SQL | undefined, secretId: string, now: number): Query<void> {
  const row = {
    project_id: connections.project_id,
    connection_id: connections.id,
    id: sql`j.value->>'id'`,
    key: sql`j.value->>'key'`,
    box: sql`j.value->>'box'`,
    removed_at: sql`CAST(${now} AS INTEGER)`,
  }
  const from = sql`FROM ${connections} CROSS JOIN json_each(${connections.secrets}) j
    WHERE ${and(of, sql`j.value->>'id' = ${secretId}`)} ON CONFLICT DO NOTHING`
  return insertFrom(db, removedSecrets, row, from)
}

/** Forgets all but the last removed secrets of a connection. */
export function removedTrimmed(db: Db, of: OfConnection) {
  const last = db.select({ id: removedSecrets.id }).from(removedSecrets).where(isOf(of))
  const kept = last.orderBy(desc(removedSecrets.removed_at), desc(removedSecrets.id)).limit(MAX_REMOVED)
  return db.delete(removedSecrets).where(and(isOf(of), sql`${removedSecrets.id} NOT IN ${kept}`))
}

/** Reads the secrets that were removed from a connection a short time ago, the last one first. */
export function listRemoved(db: Db, of: OfConnection, now: number) {
  return db
    .select()
    .from(removedSecrets)
    .where(and(isOf(of), gt(removedSecrets.removed_at, now - REMOVED_KEPT_FOR)))
    .orderBy(desc(removedSecrets.removed_at), desc(removedSecrets.id))
    .limit(MAX_REMOVED)
}

/** Forgets what was removed from a connection. */
export function removedForgotten(db: Db, of: OfConnection) {
  return db.delete(removedSecrets).where(isOf(of))
}

/** Forgets one that was removed before. */
export function removedDropped(db: Db, of: OfConnection, secretId: string) {
  const { id } = removedSecrets
  return db
    .delete(removedSecrets)
    .where(and(isOf(of), eq(id, secretId)))
    .returning({ id })
}

/** Deletes removed secrets whose time is over, at most `most`. */
export function purgeRemoved(db: Db, now: number, most: number) {
  const { project_id, connection_id, id, removed_at } = removedSecrets
  const where = lte(removed_at, now - REMOVED_KEPT_FOR)
  return deleteSome(db, removedSecrets, { key: [project_id, connection_id, id], where, most })
}

function isOf({ project_id, id }: OfConnection) {
  return ofConnection(removedSecrets, { project_id, connection_id: id })
}
