import { and, eq, isNull, not, sql } from 'drizzle-orm'
import type { Held } from '../../db/client'
import { isDeleted } from '../../tenancy/project'
import { connections } from '../connections/schema'
import type { Fence } from './recording'

/** What a fence compares. */
export function fenced(fence: Fence) {
  const [version, secret_id] = 'version' in fence ? [fence.version, null] : [null, fence.secret_id]
  return { id: fence.id, version, secret_id }
}

export type FenceHeld = { id: Held<string>; version: Held<number> | null; secret_id: Held<string> | null }
/**
 * `events` is a list as JSON, because a statement binds at most 100 values. CROSS JOIN pins the order of each join: left alone,
 * SQLite's planner picks scans at a million rows.
 */
export type EventsHeld = FenceHeld & { events: Held<string> }

/** The condition on the connection: it has not changed, or its secret is still there, and it is live. */
export function isLive({ id, version, secret_id }: FenceHeld) {
  const holds =
    version !== null
      ? eq(connections.version, version)
      : sql`EXISTS (SELECT 1 FROM json_each(${connections.secrets}) s WHERE s.value->>'id' = ${secret_id})`
  return and(eq(connections.id, id), isNull(connections.deleted_at), not(isDeleted(connections.project_id)), holds)
}
