import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measure } from '../../http/measure'
import { Fault } from '../../lib/fault'
import type { VendorDelivery } from '../../vendors/vendor'
import { SECRET_USED_EVERY } from '../connections/limits'
import { touchSecret } from '../connections/secrets'
import { type SpooledMessage, sendOrLeave, sendSpooled } from '../messages'
import { isKeyTaken } from '../packing'
import { groupCommit } from './group-commit'
import type { RecordedEvent } from './insert'
import { MAX_SPOOLED_BYTES } from './limits'
import { readDelivery } from './read-delivery'
import { asRecorded, type NewDelivery, type Recording, withOtherKey } from './recording'
import type { Verified } from './verify'

/** The answer to a vendor. */
export type Receipt = { event_ids: string[]; duplicate: boolean }

/**
 * Records a verified delivery and sends its events to the consumer. While the database is out, it sends the delivery
 * itself to the Queue.
 *
 * @returns null if the connection has changed since it was read
 * @throws {Fault} `database_unavailable`, `database_full`
 */
export async function record(rt: Runtime, verified: Verified, delivery: VendorDelivery): Promise<Receipt | null> {
  const { connection, vendor } = verified
  const contents = await readDelivery(vendor, delivery)
  const rows = await recordOrSpool(rt, verified, contents, delivery.bytes)
  if (rows?.length === 0) return null
  if (rows) rt.waitUntil(enqueue(rt, connection.project_id, rows))
  return receiptOf(contents, rows ?? [])
}

/**
 * A full database is not an outage: a spooled delivery would circle in the Queue until there is room, so the vendor is
 * told to keep it.
 *
 * @returns a row for each event; no rows if the connection has changed; null if the delivery was spooled
 * @throws {Fault} `database_unavailable` if the delivery cannot be spooled; `database_full`
 */
async function recordOrSpool(
  rt: Runtime,
  verified: Verified,
  contents: NewDelivery,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<RecordedEvent[] | null> {
  const { id, version, packed_from } = verified.connection
  try {
    const delivery = asRecorded(contents, packed_from)
    return await commit(rt, { fence: { id, version }, delivery }, bytes.byteLength)
  } catch (error) {
    if (!(error instanceof Fault) || error.fault !== 'database_unavailable') throw error
    if (!(await spool(rt, verified, contents, bytes))) throw error
    return null
  }
}

/** Records a delivery. If another body has its key, it gets a new key. */
async function commit(rt: Runtime, recording: Recording, size: number): Promise<RecordedEvent[]> {
  try {
    return await groupCommit(rt, recording, size)
  } catch (error) {
    if (!isKeyTaken(error)) throw error
    return commit(rt, withOtherKey(recording), size)
  }
}

/** Names each event by its stored id. A spooled event is stored later, under its new id. */
function receiptOf({ events }: NewDelivery, rows: readonly RecordedEvent[]): Receipt {
  const stored = new Map(rows.map((row) => [row.vendor_event_id, row.id]))
  const event_ids = events.map((event) => stored.get(event.vendor_event_id) ?? event.id)
  return { event_ids, duplicate: events.every(({ id }) => !event_ids.includes(id)) }
}

/** Sends the events that have not been attempted yet. */
async function enqueue(rt: Runtime, project_id: string, rows: readonly RecordedEvent[]): Promise<void> {
  const open = rows.filter(({ status }) => status === 'received')
  await sendOrLeave(
    rt.events,
    open.map(({ id }) => ({ project_id, event_id: id })),
  )
}

/** Keeps the secret's `last_used_at` up to date: the vendor signs with it. The remembered time saves most deliveries the write. */
export function noteSecretUse(rt: Runtime, { connection, secret }: Verified): void {
  if (secret.usedAt > rt.now - SECRET_USED_EVERY) return
  secret.usedAt = rt.now
  rt.waitUntil(
    touchSecret(rt.db, connection.id, secret.id, rt.now).catch((error) =>
      writeLog('warn', 'secret_use_not_recorded', { connection_id: connection.id, error: String(error) }),
    ),
  )
}

/**
 * Sends a delivery to the Queue while the database is out. The consumer records it first, and only while the secret that
 * verified it is live.
 *
 * @returns false if the delivery does not fit in a message, or the Queue is out too
 */
export async function spool(
  rt: Runtime,
  { connection, secret }: Verified,
  { payload_id, headers, events, received_at }: NewDelivery,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const message: SpooledMessage = {
    spooled: 1,
    project_id: connection.project_id,
    connection_id: connection.id,
    secret_id: secret.id,
    payload_id,
    received_at,
    headers,
    events: [...events],
    body: bytes,
  }
  const measured = (outcome: 'sent' | 'too_large' | 'queue_out') =>
    measure(rt, 'spool', { outcome, events: events.length, bytes: bytes.byteLength })
  if (!fitsMessage(message)) {
    measured('too_large')
    writeLog('warn', 'spool_too_large', { connection_id: connection.id, bytes: bytes.byteLength })
    return false
  }
  try {
    await sendSpooled(rt.events, message)
  } catch (error) {
    measured('queue_out')
    writeLog('error', 'spool_failed', { connection_id: connection.id, error: String(error) })
    return false
  }
  measured('sent')
  writeLog('warn', 'spooled', { connection_id: connection.id, events: events.length })
  return true
}

function fitsMessage({ body, headers, events }: SpooledMessage): boolean {
  return body.byteLength + JSON.stringify([headers, events]).length <= MAX_SPOOLED_BYTES
}
