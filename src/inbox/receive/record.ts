import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { Fault } from '../../lib/fault'
import type { Delivery } from '../../vendors/vendor'
import { SECRET_USED_EVERY } from '../connections/limits'
import { touchSecret } from '../connections/secrets-store'
import { sendEvents } from '../messages'
import { groupCommit } from './group-commit'
import { readDelivery } from './read-delivery'
import type { NewDelivery } from './recording'
import { spool } from './spool'
import type { RecordedEvent } from './store'
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
export async function record(rt: Runtime, verified: Verified, delivery: Delivery): Promise<Receipt | null> {
  const { connection, vendor } = verified
  const contents = await readDelivery(vendor, delivery)
  const rows = await recordOrSpool(rt, verified, contents, delivery.bytes)
  if (rows?.length === 0) return null
  noteSecretUse(rt, verified)
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
  const { id, version } = verified.connection
  try {
    return await groupCommit(rt, { fence: { id, version }, delivery: contents }, bytes.byteLength)
  } catch (error) {
    if (!(error instanceof Fault) || error.fault !== 'database_unavailable') throw error
    if (!(await spool(rt, verified, contents, bytes))) throw error
    return null
  }
}

/** Names each event by its stored id. A spooled event is stored later, under its new id. */
function receiptOf({ events }: NewDelivery, rows: readonly RecordedEvent[]): Receipt {
  const stored = new Map(rows.map((row) => [row.vendor_event_id, row.id]))
  const event_ids = events.map((event) => stored.get(event.vendor_event_id) ?? event.id)
  return { event_ids, duplicate: events.every(({ id }) => !event_ids.includes(id)) }
}

/** Sends the events that have not been attempted yet. If the Queue does not take them, the sweep finds them. */
async function enqueue(rt: Runtime, project_id: string, rows: readonly RecordedEvent[]): Promise<void> {
  const open = rows.filter(({ status }) => status === 'received')
  try {
    await sendEvents(
      rt.events,
      open.map(({ id }) => ({ project_id, event_id: id })),
    )
  } catch (error) {
    writeLog('warn', 'queue_send_failed', { events: open.length, error: String(error) })
  }
}

/** Keeps the secret's `last_used_at` up to date. The remembered time saves most deliveries the write. */
function noteSecretUse(rt: Runtime, { connection, secret }: Verified): void {
  if (secret.usedAt > rt.now - SECRET_USED_EVERY) return
  secret.usedAt = rt.now
  rt.waitUntil(
    touchSecret(rt.db, connection.id, secret.id, rt.now).catch((error) =>
      writeLog('warn', 'secret_use_not_recorded', { connection_id: connection.id, error: String(error) }),
    ),
  )
}
