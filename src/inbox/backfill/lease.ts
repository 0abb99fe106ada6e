import { and, eq, lte, not, sql } from 'drizzle-orm'
import { batch, type Db, run } from '../../db/client'
import { newId } from '../../lib/ids'
import { isDeleted } from '../../tenancy/project'
import type { Connection } from '../connections/connection'
import { connections } from '../connections/schema'
import { CLOCKS_DIFFER_MS } from '../fetches/limits'
import { ofConnection } from '../of-connection'
import { findSourceKeyOf, type SourceKeyRow } from '../refresh/keys'
import { LOOK_LEASE_MS } from './limits'
import type { BackfillKey } from './message'
import { backfills } from './schema'

export type BackfillRow = typeof backfills.$inferSelect

/** A look that this worker goes on with. `since`: when the connection was made (ms). */
export type TakenLook = {
  row: BackfillRow
  source: SourceKeyRow | null
  status: Connection['status']
  since: number
  token: string
}

/** Takes a look, so that no other worker goes on with it. @returns null if another one has it, or its project is deleted */
export async function takeLook(db: Db, key: BackfillKey): Promise<TakenLook | null> {
  const now = Date.now()
  const token = newId('lse', now)
  const isFree = and(lte(backfills.lease_until, now + CLOCKS_DIFFER_MS), not(isDeleted(backfills.project_id)))
  const since = sql<number>`${connections.created_at}`.as('since')
  const { rows, sources } = await batch(db, {
    taken: db
      .update(backfills)
      .set({ lease_token: token, lease_until: now + LOOK_LEASE_MS })
      .where(and(ofConnection(backfills, key), isFree)),
    rows: db
      .select({ row: backfills, since, status: connections.status })
      .from(backfills)
      .innerJoin(connections, eq(connections.id, backfills.connection_id))
      .where(and(ofConnection(backfills, key), eq(backfills.lease_token, token))),
    sources: findSourceKeyOf(db, key.project_id, key.connection_id),
  })
  return rows[0] ? { ...rows[0], source: sources[0] ?? null, token } : null
}

/** Writes how far a look has got. @returns whether this worker still had it */
export async function keepLook(db: Db, { row, token }: TakenLook, changes: Partial<BackfillRow>): Promise<boolean> {
  const kept = db
    .update(backfills)
    .set(changes)
    .where(and(ofConnection(backfills, row), eq(backfills.lease_token, token)))
    .returning({ id: backfills.connection_id })
  return (await run(db, kept)).length > 0
}
