import type { Context } from 'hono'
import type { Runtime } from '../../env'
import { readBytes } from '../../http/body'
import type { HttpEnv } from '../../http/context'
import { writeLog } from '../../http/log'
import { limit } from '../../http/rate-limit'
import { sha256Hex } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { idPattern, newId } from '../../lib/ids'
import { SECOND } from '../../lib/time'
import { vendorOf } from '../../vendors'
import { type Delivery, type Envelope, Undecodable, type Vendor, type Verification } from '../../vendors/vendor'
import { touchSecret } from '../connections/secrets-store'
import { fitsSpool, type SpooledMessage, sendShared, sendSpooled } from '../messages'
import { asText } from '../payload'
import { storedEventId } from '../process/decide'
import { forget, type LiveConnection, lookUp } from './known-connections'
import { countRefusal } from './refusals'
import { type NewDelivery, type NewEvent, type RecordedEvent, recordDelivery } from './store'

/** The largest delivery taken, in bytes. */
export const MAX_DELIVERY_BYTES = 1024 * 1024
const CONNECTION_ID = idPattern('con')

/** What a vendor is answered. */
export type Receipt = { event_ids: string[]; duplicate: boolean }

/**
 * Takes one delivery of a vendor: cheap checks → verify → record → answer → enqueue. Answered with a receipt, it is
 * recorded; whether the Queue took it is no condition, the sweep finds what it did not.
 */
export async function ingest(c: Context<HttpEnv>): Promise<Receipt> {
  const rt = c.get('rt')
  const id = c.req.param('connection_id') ?? ''
  if (!CONNECTION_ID.test(id)) throw unknownConnection()
  refuseEncoded(c)
  const address = c.req.header('CF-Connecting-IP') ?? 'local'
  await limit(rt.limits.ingest, `${id}:${address}`, 'Too many deliveries to this connection.')
  const bytes = await readBytes(c.req.raw, MAX_DELIVERY_BYTES)
  const { origin, pathname } = new URL(c.req.url)
  const delivery: Delivery = { headers: c.req.raw.headers, bytes, url: origin + pathname, now: rt.now }
  // A connection that changed since it was remembered is read again and everything is decided again; each round
  // follows a change made meanwhile, so a few are plenty.
  for (let round = 0; round < 5; round++) {
    const { connection, vendor, verification } = await verified(rt, id, delivery)
    const receipt = await record(rt, connection, vendor, verification.secret, delivery)
    if (!receipt) {
      forget(id)
      continue
    }
    noteSecretUse(rt, connection, verification.secret)
    return receipt
  }
  throw new Fault('database_unavailable', 'The connection is being changed. Try again in a few seconds.')
}

/** The live connection, with the delivery verified under one of its secrets. @throws {Fault} 401, 403, 404 */
async function verified(rt: Runtime, id: string, delivery: Delivery) {
  let known = await lookUp(rt, id, false)
  for (let fresh = false; ; fresh = true) {
    const { connection } = known
    const vendor = connection && vendorOf(connection.vendor)
    const verification: Verification | null =
      connection && vendor && connection.status === 'active'
        ? await vendor.verify(
            delivery,
            connection.secrets.map(({ text }) => text),
          )
        : null
    if (connection && vendor && verification?.ok) return { connection, vendor, verification }
    // What was remembered may be old: a refusal is decided on what the database says now.
    const again = fresh ? null : await lookUp(rt, id, true)
    if (again && again !== known) {
      known = again
      continue
    }
    if (!connection) throw unknownConnection()
    const fault =
      connection.status === 'disabled'
        ? new Fault('connection_disabled', 'Enable the connection, then resend.')
        : refusal(verification)
    countRefusal(rt, connection, fault.fault)
    throw fault
  }
}

/** Records the delivery and puts it on its way. @returns null where the connection changed meanwhile */
async function record(
  rt: Runtime,
  connection: LiveConnection,
  vendor: Vendor,
  secretIndex: number,
  { bytes, headers }: Delivery,
): Promise<Receipt | null> {
  const text = asText(bytes)
  const kept = keptHeaders(vendor, headers)
  const delivery: NewDelivery = {
    payload_id: newId('pay', rt.now),
    body: text ?? bytes.buffer,
    headers: kept,
    events: await eventsOf(vendor, text, kept, bytes, rt.now),
    received_at: rt.now,
  }
  const ids = delivery.events.map(({ id }) => id)
  let rows: RecordedEvent[]
  try {
    rows = await recordDelivery(rt.db, connection, delivery)
  } catch (error) {
    if (!(error instanceof Fault) || error.fault !== 'database_unavailable') throw error
    await spool(rt, connection, secretIndex, delivery, bytes, error)
    return { event_ids: ids, duplicate: false }
  }
  if (rows.length === 0) return null
  const stored = new Map(rows.map((row) => [row.vendor_event_id, row]))
  const open = rows.filter(({ status }) => status === 'received')
  rt.waitUntil(
    sendShared(
      rt.events,
      open.map((row) => ({ project_id: connection.project_id, event_id: row.id })),
      rt.waitUntil,
    ).catch((error) => writeLog('warn', 'queue_send_failed', { events: open.length, error: String(error) })),
  )
  return {
    event_ids: delivery.events.map((event) => stored.get(event.vendor_event_id)?.id ?? event.id),
    duplicate: rows.every((row) => !ids.includes(row.id)),
  }
}

/**
 * D1 is out, the Queue may not be: the delivery itself goes there, and the consumer records it first.
 *
 * @throws {Fault} `database_unavailable` where it does not fit a message or the Queue is out too: the vendor retries
 */
async function spool(
  rt: Runtime,
  connection: LiveConnection,
  secretIndex: number,
  { payload_id, headers, events, received_at }: NewDelivery,
  bytes: Uint8Array<ArrayBuffer>,
  cause: Fault,
): Promise<void> {
  const message: SpooledMessage = {
    spooled: 1,
    project_id: connection.project_id,
    connection_id: connection.id,
    secret_id: connection.secrets[secretIndex]?.id ?? '',
    payload_id,
    received_at,
    headers,
    events: [...events],
    body: bytes,
  }
  if (!fitsSpool(message)) throw cause
  try {
    await sendSpooled(rt.events, message)
  } catch (error) {
    writeLog('error', 'spool_failed', { connection_id: connection.id, error: String(error) })
    throw cause
  }
  writeLog('warn', 'spooled', { connection_id: connection.id, events: events.length })
}

/**
 * The events to record. A verified body that cannot be read is recorded all the same, and fails in processing; under
 * its own type and id where its envelope can be read, so that it is found by them.
 */
async function eventsOf(
  vendor: Vendor,
  text: string | null,
  headers: Record<string, string>,
  bytes: Uint8Array<ArrayBuffer>,
  now: number,
): Promise<NewEvent[]> {
  const decoded = text === null ? [] : readable(vendor, text, headers)
  if (decoded.length === 0) {
    return [
      { id: newId('evt', now), vendor_event_id: await sha256Hex(bytes), event_type: 'unknown', occurred_at: null },
    ]
  }
  const digest = decoded.some((event) => event.vendor_event_id === null) ? await sha256Hex(bytes) : ''
  const list = decoded.map(({ vendor_event_id, event_type, occurred_at }, index) => ({
    id: newId('evt', now),
    vendor_event_id: storedEventId(vendor_event_id, digest, index),
    event_type: event_type.slice(0, 200),
    occurred_at,
  }))
  // A vendor that names one event twice in a delivery means it once.
  return [...new Map(list.map((event) => [event.vendor_event_id, event])).values()]
}

function readable(vendor: Vendor, text: string, headers: Record<string, string>): Envelope[] {
  try {
    return vendor.decode(text, headers)
  } catch (error) {
    if (error instanceof Undecodable) return error.envelope ? [error.envelope] : []
    throw error
  }
}

function keptHeaders(vendor: Vendor, headers: Headers): Record<string, string> {
  const kept = vendor.keptHeaders.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value.slice(0, 500)]]
  })
  return Object.fromEntries(kept)
}

function refuseEncoded(c: Context<HttpEnv>): void {
  const encoding = c.req.header('Content-Encoding')?.trim().toLowerCase()
  if (encoding && encoding !== 'identity') {
    throw new Fault('unsupported_encoding', 'Send the body as it is: the signature is over its bytes.')
  }
}

function noteSecretUse(rt: Runtime, connection: LiveConnection, index: number): void {
  const secret = connection.secrets[index]
  if (!secret || secret.usedAt > rt.now - 60 * SECOND) return
  secret.usedAt = rt.now
  rt.waitUntil(
    touchSecret(rt.db, connection.id, secret.id, rt.now).catch((error) =>
      writeLog('warn', 'secret_use_not_recorded', { connection_id: connection.id, error: String(error) }),
    ),
  )
}

function refusal(verification: Verification | null): Fault {
  const cause = verification && !verification.ok ? verification.cause : 'signature_mismatch'
  const skew = verification && !verification.ok ? verification.skew_ms : undefined
  const detail = {
    signature_missing: "Send the vendor's signature header.",
    signature_malformed: "The signature header is not of the vendor's form.",
    signature_mismatch: 'No live signing secret of this connection made this signature over these bytes.',
    signature_timestamp: `The signature's time is ${Math.round((skew ?? 0) / SECOND)} s from ours; 300 s are tolerated.`,
  }[cause]
  return new Fault(cause, detail)
}

function unknownConnection(): Fault {
  return new Fault('unknown_connection', 'No connection has this address: copy its ingest_url again.')
}
