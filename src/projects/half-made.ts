import { and, eq, gt, gte, inArray, isNotNull, isNull, lt, notExists, type SQL, sql } from 'drizzle-orm'
import { apiKeys } from '../api-keys/schema'
import { auditLog, directoryChanges } from '../audit/schema'
import { changes } from '../changes/schema'
import { batch, type Db, type Directory, run } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { connections } from '../inbox/connections/schema'
import { idFloor } from '../lib/ids'
import { DAY, HOUR } from '../lib/time'
import { projects } from '../tenancy/schema'

/** Projects that one step looks at. */
const AT_ONCE = 1000

/**
 * Removes what is left of projects that were written to their store but not to the directory: nobody has ever reached
 * them. This is one step over the projects that were created in the last week, but not in the last hour, starting after
 * the project `after`.
 *
 * @returns the project after which the next step continues; null once all are done
 */
export async function removeHalfMade(
  { db, directory, store, now }: Runtime,
  after: string,
): Promise<{ done: number; after: string | null }> {
  const range = { from: idFloor('prj', now - 7 * DAY), to: idFloor('prj', now - HOUR), after }
  const ids = (await run(db, projectsBetween(db, store, range, AT_ONCE))).map(({ id }) => id)
  if (ids.length === 0) return { done: 0, after: null }
  const known = await ifAnswered(directory, inDirectory(directory, ids))
  if (!known) return { done: 0, after: null } // The next hour's pass looks again.
  const there = new Set(known.map(({ id }) => id))
  const missing = ids.filter((id) => !there.has(id))
  const { gone } = missing.length > 0 ? await batch(db, halfMadeDeleted(db, missing)) : { gone: [] }
  return { done: gone.length, after: ids.length < AT_ONCE ? null : (ids.at(-1) ?? null) }
}

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

/** Deletes projects with their audit rows, changes and counts, for a batch, except projects that have a key or a connection. */
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
    changes: db.delete(changes).where(inArray(changes.project_id, ofGone)),
    counts: db.delete(directoryChanges).where(inArray(directoryChanges.project_id, ofGone)),
    gone: db.delete(projects).where(gone).returning({ id: projects.id }),
  }
}
