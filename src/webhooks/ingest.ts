import type { Context } from 'hono'
import type { Runtime } from '../env'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import { limit } from '../http/rate-limit'
import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { idPattern, newId } from '../lib/ids'
import { SECOND } from '../lib/time'
import { touchSecret } from './connections/store'
import { forget, type Known, lookUp } from './known-connections'
import { sendEvents } from './messages'
import { type NewEvent, recordDelivery } from './record/ingest'
import { vendorOf } from './vendors'
import { type Delivery, Undecodable, type Vendor, type Verification } from './vendors/vendor'

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
  const bytes = await readBytes(c.req.raw)
  const { origin, pathname } = new URL(c.req.url)
  const delivery: Delivery = { headers: c.req.raw.headers, bytes, url: origin + pathname, now: rt.now }
  // A connection that changed since it was remembered is read again and everything is decided again; each round
  // follows a change made meanwhile, so a few are plenty.
  for (let round = 0; round < 5; round++) {
    const { connection, vendor, verification } = await verified(rt, id, delivery)
    const receipt = await record(rt, connection, vendor, delivery)
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
    if (connection.status === 'disabled') throw new Fault('connection_disabled', 'Enable the connection, then resend.')
    throw refusal(verification)
  }
}

async function record(
  rt: Runtime,
  connection: NonNullable<Known['connection']>,
  vendor: Vendor,
  delivery: Delivery,
): Promise<Receipt | null> {
  const { bytes } = delivery
  const text = asText(bytes)
  const headers = keptHeaders(vendor, delivery.headers)
  const list = await eventsOf(vendor, text, headers, bytes, rt.now)
  const rows = await recordDelivery(
    rt.db,
    connection,
    { payload_id: newId('pay', rt.now), body: text ?? bytes.buffer, headers },
    list,
    rt.now,
  )
  if (rows.length === 0) return null
  const stored = new Map(rows.map((row) => [row.vendor_event_id, row]))
  const fresh = new Set(list.map((event) => event.id))
  const open = rows.filter(({ status }) => status === 'received')
  rt.waitUntil(
    sendEvents(
      rt.events,
      open.map((row) => ({ project_id: connection.project_id, event_id: row.id })),
    ).catch((error) => writeLog('warn', 'queue_send_failed', { events: open.length, error: String(error) })),
  )
  return {
    event_ids: list.map((event) => stored.get(event.vendor_event_id)?.id ?? event.id),
    duplicate: rows.every((row) => !fresh.has(row.id)),
  }
}

/** The events to record. A verified body that cannot be read is recorded all the same, and fails in processing. */
async function eventsOf(
  vendor: Vendor,
  text: string | null,
  headers: Record<string, string>,
  bytes: Uint8Array<ArrayBuffer>,
  now: number,
): Promise<NewEvent[]> {
  const unreadable = async () => [
    { id: newId('evt', now), vendor_event_id: await sha256Hex(bytes), event_type: 'unknown', occurred_at: null },
  ]
  if (text === null) return unreadable()
  try {
    const decoded = vendor.decode(text, headers)
    if (decoded.length === 0) return unreadable()
    const digest = decoded.some((event) => event.vendor_event_id === null) ? await sha256Hex(bytes) : ''
    return decoded.map(({ vendor_event_id, event_type, occurred_at }) => ({
      id: newId('evt', now),
      vendor_event_id: (vendor_event_id ?? digest).slice(0, 300),
      event_type: event_type.slice(0, 200),
      occurred_at,
    }))
  } catch (error) {
    if (error instanceof Undecodable) return unreadable()
    throw error
  }
}

/** The bytes as text when that loses nothing: UTF-8 (a byte order mark kept) without NUL. */
function asText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null // not UTF-8: kept as a BLOB
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
  if (Number(c.req.header('Content-Length') ?? 0) > MAX_DELIVERY_BYTES) throw tooLarge()
}

/** The whole body, read once and never past the bound. @throws {Fault} `payload_too_large` */
async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_DELIVERY_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

function noteSecretUse(rt: Runtime, connection: NonNullable<Known['connection']>, index: number): void {
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

function tooLarge(): Fault {
  return new Fault('payload_too_large', `Send at most ${MAX_DELIVERY_BYTES} bytes.`)
}
