import { and, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type * as z from 'zod'
import { auditedFrom, type Change } from '../audit/store'
import { type Device, devicesWithHash, findDevice } from '../consumers/devices'
import { changeable, consumerIdOf, findConsumer } from '../consumers/read'
import type { NamedConsumer } from '../consumers/ref'
import { devices } from '../consumers/schema'
import { batch, type Db } from '../db/client'
import { deviceNotFound, deviceRevoked } from './faults'
import type { UpdateDeviceBody } from './fields'
import { detailsOfChange, differing, storedFields } from './sent'

const d = alias(devices, 'd')

/**
 * Changes what is said of a device that was not revoked. The same values again change nothing.
 *
 * @returns the device as it is then
 * @throws {Fault} `not_found`, `consumer_merged`, `consumer_erased`, `device_revoked`, `validation_failed`
 */
export async function updateDevice(
  db: Db,
  { project_id, ref, id }: NamedConsumer & { id: string },
  body: z.infer<typeof UpdateDeviceBody>,
  change: Change,
): Promise<Device> {
  const fields = storedFields(body, change.now)
  const from = sql`FROM ${devices} ${d} INDEXED BY devices_consumer
    WHERE ${d.project_id} = ${project_id} AND ${d.consumer_id} = ${consumerIdOf(project_id, ref)} AND ${d.state} = 'active' AND ${d.id} = ${id}`
  const { consumer, device } = await batch(
    db,
    {
      audit: auditedFrom(
        db,
        change,
        { action: 'device.updated', object_type: 'device', object_id: id },
        {
          taken: { project_id: d.project_id, details: detailsOfChange(fields, {}) },
          from: sql`${from} AND ${differing(fields, d).any}`,
        },
      ),
      changed: db
        .update(devices)
        .set(fields)
        .where(and(devicesWithHash(project_id, sql`(SELECT ${d.token_hash} ${from})`), differing(fields, devices).any)),
      consumer: findConsumer(db, project_id, ref),
      device: findDevice(db, project_id, ref, id),
    },
    { idempotent: true }, // the second time, nothing differs
  )
  changeable(consumer)
  const [row] = device
  if (!row) throw deviceNotFound()
  if (row.state === 'revoked') throw deviceRevoked(row.id)
  return row
}
