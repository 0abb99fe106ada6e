import { and, desc, eq, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { type Db, run } from '../../db/client'
import { CHUNK_ROWS } from '../../db/limits'
import { idFloor } from '../../lib/ids'
import type { PassStep } from '../../tenancy/pass'
import { ofConnection } from '../of-connection'
import { vendorRuns } from './schema'

export type RunRow = typeof vendorRuns.$inferSelect
/** An import, as paths name it. */
export type RunKey = { project_id: string; connection_id: string; id: string }

/** Reads an import of a connection. */
export function findRun(db: Db, key: RunKey) {
  return db.select().from(vendorRuns).where(isRunOf(key))
}

/** Reads the imports of a connection, newest first, from before the import `before`. */
export function listRuns(db: Db, of: Omit<RunKey, 'id'>, before: string | null, limit: number) {
  return db
    .select()
    .from(vendorRuns)
    .where(and(isOf(of), before === null ? undefined : lt(vendorRuns.id, before)))
    .orderBy(desc(vendorRuns.id))
    .limit(limit)
}

/** The condition on the rows of a connection. */
export function isOf(of: Omit<RunKey, 'id'>) {
  return ofConnection(vendorRuns, of)
}

/** The condition on the row of an import. */
export function isRunOf({ id, ...of }: RunKey) {
  return and(isOf(of), eq(vendorRuns.id, id))
}

/** The condition on an import that has not ended. */
export function isOpen(): SQL {
  return isNull(vendorRuns.finished_at)
}

/**
 * Deletes imports that began before `before` (ms) and have ended, of all projects at once: there are few.
 *
 * @returns `after` is null once none is left
 */
export async function purgeRuns(db: Db, before: number): Promise<PassStep> {
  const isOld = and(lt(vendorRuns.id, idFloor('imp', before)), isNotNull(vendorRuns.finished_at))
  const chunk = sql`SELECT ${vendorRuns.project_id}, ${vendorRuns.id} FROM ${vendorRuns} WHERE ${isOld} LIMIT ${CHUNK_ROWS}`
  const gone = await run(
    db,
    db
      .delete(vendorRuns)
      .where(sql`(${vendorRuns.project_id}, ${vendorRuns.id}) IN (${chunk})`)
      .returning({ id: vendorRuns.id }),
  )
  return { done: gone.length, after: gone.length < CHUNK_ROWS ? null : 'more' }
}
