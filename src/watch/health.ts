import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes } from '../changes/schema'
import { type Db, raw } from '../db/client'
import { watchers } from '../followers/schema'
import { MAX_COUNTED_SKIPPED } from './limits'
import { entitlementStates } from './schema'

const w = alias(watchers, 'w')
const c = alias(changes, 'c')
const s = alias(entitlementStates, 's')

/**
 * Reads how a project's watcher is doing; no row if it is off. `skipped`: consumers that have too much to be looked at, up to
 * {@link MAX_COUNTED_SKIPPED}; `unread_since`: when the first change was made that it has not read (ms).
 */
export function findWatched(db: Db, projectId: string) {
  const skipped = sql`SELECT 1 FROM ${entitlementStates} ${s} INDEXED BY entitlement_states_skipped
    WHERE ${s.project_id} = ${w.project_id} AND ${s.skipped_at} IS NOT NULL LIMIT ${MAX_COUNTED_SKIPPED}`
  const unread = sql`SELECT ${c.at} FROM ${changes} ${c} WHERE ${c.project_id} = ${w.project_id} AND ${c.seq} > ${w.position}
    ORDER BY ${c.seq} LIMIT 1`
  return raw(
    db,
    { skipped: sql<number>`(SELECT count(*) FROM (${skipped}))`, unread_since: sql<number | null>`(${unread})` },
    (fields) =>
      sql`SELECT ${fields} FROM ${watchers} ${w} WHERE ${w.project_id} = ${projectId} AND ${w.state} <> 'off'`,
  )
}
