import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { devicesWithHash, revokedForgotten } from '../consumers/devices'
import { consumerIdOf, findConsumer, requireConsumer } from '../consumers/read'
import type { ConsumerRef } from '../consumers/ref'
import { devices } from '../consumers/schema'
import { batch, type Db, raw } from '../db/client'
import { deviceNotFound } from './faults'

const d = alias(devices, 'd')

/**
 * Revokes a device of a consumer, for good. A revoked one stays as it is.
 *
 * @throws {Fault} `not_found`, `consumer_merged`
 */
export async function revokeDevice(
  db: Db,
  { project_id, ref, id }: { project_id: string; ref: ConsumerRef; id: string },
  change: Change,
): Promise<void> {
  const owner = consumerIdOf(project_id, ref)
  const inState = (state: 'active' | 'revoked') =>
    sql`FROM ${devices} ${d} INDEXED BY devices_consumer
      WHERE ${d.project_id} = ${project_id} AND ${d.consumer_id} = ${owner} AND ${d.state} = ${state} AND ${d.id} = ${id}`
  const { consumer, device } = await batch(db, {
    audit: auditedFrom(
      db,
      change,
      { action: 'device.revoked', object_type: 'device', object_id: id },
      {
        taken: { project_id: d.project_id, details: sql`json_object('consumer', ${d.consumer_id})` },
        from: inState('active'),
      },
    ),
    revoked: db
      .update(devices)
      .set({ state: 'revoked', revoked_at: change.now })
      .where(devicesWithHash(project_id, sql`(SELECT ${d.token_hash} ${inState('active')})`)),
    device: raw(db, { id: d.id }, (fields) => sql`SELECT ${fields} ${inState('revoked')}`),
    consumer: findConsumer(db, project_id, ref),
    forgotten: revokedForgotten(db, project_id, owner),
  })
  requireConsumer(consumer)
  if (device[0]) return
  throw deviceNotFound()
}
