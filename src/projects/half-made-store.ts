import { and, eq, gt, gte, inArray, isNotNull, isNull, lt, notExists, type SQL, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { auditLog } from '../audit/schema'
import type { Db, Directory } from '../db/client'
import { valuesOf } from '../db/sql'
import { connections } from '../inbox/connections/schema'
import { projects } from '../tenancy/schema'

/** Reads ids of a store's own projects, in their order, from one id up to another (exclusive), starting after `after`. */
export function projectsBetween(
  db: Db,
  store: number,
  { from, to, after }: Record<'from' | 'to' | 'after', string>,
  most: number,
) {
  return db
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.store, store), gte(projects.id, from), lt(projects.id, to), gt(projects.id, after)))
    .orderBy(projects.id)
    .limit(most)
}

/** Reads which of these projects the directory has. */
export function inDirectory(directory: Directory, ids: readonly string[]) {
  return directory
    .select({ id: projects.id })
    .from(projects)
    .where(inArray(projects.id, valuesOf(ids)))
}

/** Deletes projects and their audit rows, for a batch, except projects that have a key or a connection. */
export function halfMadeDeleted(db: Db, ids: readonly string[]) {
  const without = (table: typeof apiKeys | typeof connections, which?: SQL) =>
    notExists(
      db
        .select({ one: sql`1` })
        .from(table)
        .where(and(eq(table.project_id, projects.id), which)),
    )
  const gone = and(
    inArray(projects.id, valuesOf(ids)),
    without(apiKeys, isNull(apiKeys.revoked_at)),
    without(apiKeys, isNotNull(apiKeys.revoked_at)),
    without(connections),
  )
  const ofGone = db.select({ id: projects.id }).from(projects).where(gone)
  return {
    audit: db.delete(auditLog).where(inArray(auditLog.project_id, ofGone)),
    gone: db.delete(projects).where(gone).returning({ id: projects.id }),
  }
}
