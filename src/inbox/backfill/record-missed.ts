import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { raw, run } from '../../db/client'
import type { Runtime } from '../../env'
import { utf8 } from '../../lib/crypto'
import { vendorOf } from '../../vendors'
import type { Json } from '../../vendors/lib/json'
import type { Vendor } from '../../vendors/vendor'
import { connections } from '../connections/schema'
import { sendOrLeave } from '../messages'
import { readDelivery } from '../receive/read-delivery'
import { asRecorded, type Recording } from '../receive/recording'
import type { SourceKey } from '../refresh/keys'
import { recordInBatches } from '../refresh/record'
import { events } from '../schema'
import { REPLACED_WITHIN_MS } from './limits'

/**
 * Records the events that no connection of the project has received, as if the vendor had delivered them, and sends them to the consumer. First it
 * reads which events are known, because a duplicate would write rows.
 *
 * @returns how many were recorded, and whether these are all: the connection may have changed since it was read
 */
export async function recordMissed(
  rt: Runtime,
  key: SourceKey,
  all: readonly { id: string; event: Json }[],
): Promise<{ recorded: number; areAll: boolean }> {
  const ids = all.map(({ id }) => id)
  const known = ids.length === 0 ? [] : await run(rt.db, findKnown(rt, key, ids))
  const have = new Set(known.map(({ id }) => id))
  const missed = all.filter(({ id }) => !have.has(id))
  if (missed.length === 0) return { recorded: 0, areAll: true }
  const { connection_id: id, connection } = key
  const recordings: Recording[] = []
  for (const { event } of missed) {
    const delivery = await asDelivery(vendorOf(key.vendor) as Vendor, event)
    recordings.push({
      fence: { id, version: connection.version },
      delivery: asRecorded(delivery, connection.packed_from),
    })
  }
  const recorded = await recordInBatches(rt.db, recordings)
  await sendOrLeave(
    rt.events,
    recorded.map((event_id) => ({ project_id: key.project_id, event_id })),
  )
  return { recorded: recorded.length, areAll: recorded.length === missed.length }
}

/**
 * Reads which of these events any connection of the project to the vendor has: an account can have several. One that was deleted lately may have been
 * replaced by this one.
 */
function findKnown({ db }: Runtime, { project_id, vendor }: SourceKey, ids: readonly string[]) {
  const ofVendor = and(
    eq(connections.project_id, project_id),
    eq(connections.vendor, vendor),
    or(isNull(connections.deleted_at), gt(connections.deleted_at, Date.now() - REPLACED_WITHIN_MS)),
  )
  return raw(
    db,
    { id: events.vendor_event_id },
    (fields) => sql`SELECT ${fields} FROM ${connections} CROSS JOIN json_each(${JSON.stringify(ids)}) j
      CROSS JOIN ${events} INDEXED BY events_dedupe
        ON ${events.connection_id} = ${connections.id} AND ${events.vendor_event_id} = j.value WHERE ${ofVendor}`,
  )
}

/** An event of a list as a delivery. The vendor writes it differently there, so its content is not compared with that of a delivery. */
async function asDelivery(vendor: Vendor, event: Json) {
  const bytes = utf8(JSON.stringify(event)) as Uint8Array<ArrayBuffer>
  const delivery = { headers: new Headers(), bytes, url: '', now: Date.now() }
  const read = await readDelivery(vendor, delivery)
  return { ...read, events: read.events.map((one) => ({ ...one, content_digest: null, deliveries: 0 as const })) }
}
