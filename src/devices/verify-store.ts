import { and, eq, lte, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { shown } from '../consumers/devices'
import { devices } from '../consumers/schema'
import { consumerWithId } from '../consumers/store'
import { type Db, raw, run } from '../db/client'
import { factsOfId } from '../entitlements/store'
import { LAST_SEEN_EVERY } from './limits'

const d = alias(devices, 'd')

/** Reads the device of the project that has this token, and its consumer. */
export function byToken(db: Db, projectId: string, hash: string) {
  return {
    devices: raw(db, shown, (fields) => sql`SELECT ${fields} ${withToken(projectId, hash)}`),
    consumers: consumerWithId(db, projectId, ownerOf(projectId, hash)),
  }
}

/** Reads, in addition, what decides what the consumer may do with these features. */
export function factsByToken(db: Db, projectId: string, hash: string, features: readonly string[]) {
  return factsOfId(db, projectId, ownerOf(projectId, hash), features)
}

function withToken(projectId: string, hash: string): SQL {
  return sql`FROM ${devices} ${d} WHERE ${d.project_id} = ${projectId} AND ${d.token_hash} = ${hash}`
}

/** The id of the consumer whose device has this token, as an expression. */
function ownerOf(projectId: string, hash: string): SQL {
  return sql`(SELECT ${d.consumer_id} ${withToken(projectId, hash)})`
}

/** Records that the device with this token was seen, unless that was recorded within the hour. */
export async function touchDevice(db: Db, projectId: string, hash: string, now: number): Promise<void> {
  const stale = lte(devices.last_seen_at, now - LAST_SEEN_EVERY)
  const isIt = and(eq(devices.project_id, projectId), eq(devices.token_hash, hash), eq(devices.state, 'active'), stale)
  await run(db, db.update(devices).set({ last_seen_at: now }).where(isIt))
}
