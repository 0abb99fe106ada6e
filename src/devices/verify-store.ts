import { and, eq, lte, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { consumerWithId } from '../consumers/store'
import { type Db, raw, run } from '../db/client'
import { LAST_SEEN_EVERY } from './limits'
import { devices } from './schema'
import { shown } from './store'

const d = alias(devices, 'd')

/** Reads the device of the project that has this token, and its consumer. */
export function byToken(db: Db, projectId: string, hash: string) {
  const from = sql`FROM ${devices} ${d} WHERE ${d.project_id} = ${projectId} AND ${d.token_hash} = ${hash}`
  return {
    devices: raw(db, shown, (fields) => sql`SELECT ${fields} ${from}`),
    consumers: consumerWithId(db, projectId, sql`(SELECT ${d.consumer_id} ${from})`),
  }
}

/** Records that the device with this token was seen, unless that was recorded within the hour. */
export async function touchDevice(db: Db, projectId: string, hash: string, now: number): Promise<void> {
  const stale = lte(devices.last_seen_at, now - LAST_SEEN_EVERY)
  const isIt = and(eq(devices.project_id, projectId), eq(devices.token_hash, hash), eq(devices.state, 'active'), stale)
  await run(db, db.update(devices).set({ last_seen_at: now }).where(isIt))
}
