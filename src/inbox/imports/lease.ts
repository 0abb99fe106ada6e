import { and, eq, isNull, lte, not, or, sql } from 'drizzle-orm'
import { batch, type Db, run } from '../../db/client'
import { newId } from '../../lib/ids'
import { isDeleted } from '../../tenancy/project'
import { CLOCKS_DIFFER_MS } from '../fetches/limits'
import { findSourceKeyOf, type SourceKeyRow } from '../refresh/keys'
import { PAGE_LEASE_MS } from './limits'
import type { ImportKey } from './message'
import { isOpen, type RunRow } from './runs'
import { vendorRuns } from './schema'

/** An import whose next page this worker reads. `source`: null if the connection no longer has a key, or is deleted. */
export type Taken = { run: RunRow; source: SourceKeyRow | null; token: string }

/**
 * Takes an import, so that no other worker reads its next page.
 *
 * @returns null if it has ended, is not due, another worker has it, or its project is deleted
 */
export async function takeRun(db: Db, { project_id, import_id }: ImportKey): Promise<Taken | null> {
  const now = Date.now()
  const token = newId('lse', now)
  const isRun = and(eq(vendorRuns.project_id, project_id), eq(vendorRuns.id, import_id))
  const isFree = or(isNull(vendorRuns.lease_until), lte(vendorRuns.lease_until, now))
  const isDue = lte(vendorRuns.due_at, now + CLOCKS_DIFFER_MS)
  const connection = sql`(SELECT ${vendorRuns.connection_id} FROM ${vendorRuns} WHERE ${isRun})`
  const { runs, sources } = await batch(
    db,
    {
      taken: db
        .update(vendorRuns)
        .set({ lease_token: token, lease_until: now + PAGE_LEASE_MS })
        .where(and(isRun, isDue, isFree, not(isDeleted(vendorRuns.project_id)))),
      runs: db
        .select()
        .from(vendorRuns)
        .where(and(isRun, isHeldBy(token))),
      sources: findSourceKeyOf(db, project_id, connection),
    },
    { idempotent: true },
  )
  return runs[0] ? { run: runs[0], source: sources[0] ?? null, token } : null
}

/** Whether the worker with the token has an import, and it has not ended: a condition on its row. */
export function isHeldBy(token: string) {
  return and(eq(vendorRuns.lease_token, token), isOpen())
}

/** Gives an import back as it is. */
export async function giveBack(db: Db, { run: { project_id, id }, token }: Taken): Promise<void> {
  const held = and(eq(vendorRuns.project_id, project_id), eq(vendorRuns.id, id), isHeldBy(token))
  await run(db, db.update(vendorRuns).set({ lease_token: null, lease_until: null }).where(held))
}
