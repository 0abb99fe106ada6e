import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changesEpoch } from '../changes/schema'
import type { Db } from '../db/client'
import type { Runtime } from '../env'
import { webhookEndpoints } from '../followers/schema'
import { sendToEndpoints, type WokenEndpoint } from '../followers/wake'
import { writeLog } from '../http/log'
import { isDeleted } from '../tenancy/project'
import { MAX_WOKEN, WOKEN_MS } from './limits'
import { hasWork } from './work'

const e = alias(webhookEndpoints, 'e')

/** Wakes these endpoints. @param due what {@link takeDueEndpoints} found */
export async function sendToDue(rt: Runtime, due: readonly WokenEndpoint[]): Promise<void> {
  if (due.length === 0) return
  await sendToEndpoints(rt, due)
  writeLog('info', 'endpoints_woken', { endpoints: due.length })
}

/**
 * Takes the endpoints of a store that something is to be sent to and that nobody sends to: those behind the newest change, also because
 * their message was lost or their worker has died, and those with a retry whose time has come. All are looked at, and of each a few rows.
 */
export function takeDueEndpoints(db: Db, now: number) {
  const { project_id, id, slow } = webhookEndpoints
  const isFree = sql`${e.state} <> 'disabled' AND ${e.not_before} <= ${now} AND ${e.lease_until} <= ${now} AND ${e.woken_at} <= ${now - WOKEN_MS}`
  const isRestored = sql`${e.epoch} <> (SELECT ${changesEpoch.epoch} FROM ${changesEpoch})`
  const of = { project_id: sql`${e.project_id}`, id: sql`${e.id}`, state: sql`${e.state}` }
  const due = sql`SELECT ${e.project_id}, ${e.id} FROM ${webhookEndpoints} ${e}
    WHERE ${isFree} AND (${isRestored} OR ${hasWork(sql`${e.position}`, now, of)}) AND NOT ${isDeleted(e.project_id)}
    ORDER BY ${e.woken_at} LIMIT ${MAX_WOKEN}`
  return db
    .update(webhookEndpoints)
    .set({ woken_at: now })
    .where(sql`(${project_id}, ${id}) IN (${due})`)
    .returning({ project_id, endpoint_id: id, slow })
}
