import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes, changesEpoch } from '../changes/schema'
import type { Db } from '../db/client'
import { CLOCK } from '../entitlements/read'
import type { Runtime } from '../env'
import { watchers } from '../followers/schema'
import { sendToWatchers } from '../followers/wake'
import { writeLog } from '../http/log'
import { isDeleted } from '../tenancy/project'
import { MAX_WOKEN, WOKEN_MS } from './limits'
import { entitlementStates } from './schema'

const w = alias(watchers, 'w')
const c = alias(changes, 'c')
const s = alias(entitlementStates, 's')

/** Wakes these watchers. @param waiting what {@link takeWaiting} found */
export async function sendToWaiting(rt: Runtime, waiting: readonly { project_id: string }[]): Promise<void> {
  if (waiting.length === 0) return
  await sendToWatchers(rt, waiting)
  writeLog('info', 'watchers_woken', { watchers: waiting.length })
}

/** Takes the watchers of a store that have something to do and that nobody works on: all are looked at, and of each a few rows. */
export function takeWaiting(db: Db, now: number) {
  const isFree = sql`${w.lease_until} <= ${now} AND ${w.woken_at} <= ${now - WOKEN_MS}`
  const ofProject = sql`${s.project_id} = ${w.project_id}`
  const isBehind = sql`EXISTS (SELECT 1 FROM ${changes} ${c} WHERE ${c.project_id} = ${w.project_id} AND ${c.seq} > ${w.position})`
  const isDue = sql`EXISTS (SELECT 1 FROM ${entitlementStates} ${s} INDEXED BY entitlement_states_due
    WHERE ${ofProject} AND ${s.due_at} <= ${CLOCK})`
  const isRestored = sql`${w.epoch} <> (SELECT ${changesEpoch.epoch} FROM ${changesEpoch})`
  const walks = sql`json_array_length(${w.walk}, '$.causes') > 0`
  const hasLeft = sql`EXISTS (SELECT 1 FROM ${entitlementStates} ${s} WHERE ${ofProject})`
  const waiting = sql`SELECT ${w.project_id} FROM ${watchers} ${w} WHERE ${isFree} AND NOT ${isDeleted(w.project_id)}
    AND CASE ${w.state} WHEN 'off' THEN ${hasLeft} ELSE ${walks} OR ${isBehind} OR ${isDue} OR ${isRestored} END
    ORDER BY ${w.woken_at} LIMIT ${MAX_WOKEN}`
  return db
    .update(watchers)
    .set({ woken_at: now })
    .where(sql`${watchers.project_id} IN (${waiting})`)
    .returning({ project_id: watchers.project_id })
}
