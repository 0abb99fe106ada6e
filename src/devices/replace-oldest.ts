import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedEach, type Change } from '../audit/store'
import { devicesWithHash, revokedForgotten } from '../consumers/devices'
import { devices } from '../consumers/schema'
import type { Db } from '../db/client'
import { activeOf, expiredDevices, expiredOf, limitOf } from './device-limit'
import { MAX_REPLACED } from './limits'

const d = alias(devices, 'd')
const i = alias(devices, 'i')

type Room = {
  project_id: string
  installation_id: string
  /** The id of the consumer if it is active, as an expression. */
  owner: SQL
  /** The id that the new device would get. */
  id: string
  cap: number | null
  /** Whether devices that have not expired may go too. */
  replace: boolean
}

/**
 * Revokes as many devices as a new one needs to fit in, and audits each: expired ones first, then the ones that were seen least
 * recently. If that would not be enough, it revokes none.
 */
export function madeRoom(db: Db, { project_id, installation_id, owner, id, cap, replace }: Room, change: Change) {
  const isThere = sql`EXISTS (SELECT 1 FROM ${devices} ${i} INDEXED BY devices_installation
    WHERE ${i.project_id} = ${project_id} AND ${i.consumer_id} = ${owner} AND ${i.installation_id} = ${installation_id})`
  const expired = expiredOf(project_id, owner, change.now)
  const most = replace ? sql`${MAX_REPLACED}` : sql`min(${MAX_REPLACED}, ${expired})`
  const needed = sql`(SELECT CASE WHEN n BETWEEN 1 AND ${most} THEN n ELSE 0 END
    FROM (SELECT ${activeOf(project_id, owner)} - ${limitOf(project_id, cap)} + 1 AS n))`
  // As a rule none has expired: then the active ones are not counted.
  const tooMany = replace ? needed : sql`iif(${expired} = 0, 0, ${needed})`
  const active = sql`FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${d.project_id} = ${project_id} AND ${d.consumer_id} = ${owner} AND ${d.state} = 'active'`
  const from = replace ? active : expiredDevices(project_id, owner, change.now)
  const oldest = (field: SQL) => sql`(SELECT ${field} ${from} AND NOT ${isThere}
    ORDER BY coalesce(${d.expires_at} <= ${change.now}, 0) DESC, ${d.last_seen_at}, ${d.id} LIMIT ${tooMany})`
  const entry = { project_id, action: 'device.revoked', object_type: 'device' }
  const details = sql`json_object('consumer', ${owner}, 'replaced_by', ${id})`
  return {
    audit: auditedEach(db, change, entry, { objects: oldest(sql`${d.id}`), details, most: MAX_REPLACED }),
    revoked: db
      .update(devices)
      .set({ state: 'revoked', revoked_at: change.now })
      .where(devicesWithHash(project_id, oldest(sql`${d.token_hash}`))),
    forgotten: revokedForgotten(db, project_id, owner),
  }
}
