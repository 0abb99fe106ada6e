import { sha256Hex } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { isObject, type Json } from '../../vendors/lib/json'
import { type DecodedEvent, type Envelope, Undecodable, type Vendor, type VendorDelivery } from '../../vendors/vendor'
import { asText } from '../payload'
import { storedEventId } from '../process/decide'
import { DIGEST_LENGTH, MAX_DELIVERY_EVENTS, MAX_EVENT_TYPE, MAX_KEPT_HEADER } from './limits'
import type { NewDelivery, NewEvent } from './recording'

/**
 * Reads a verified delivery: its payload, the headers worth keeping, and its events.
 *
 * @throws {Fault} `too_many_events`
 */
export async function readDelivery(vendor: Vendor, { headers, bytes, now }: VendorDelivery): Promise<NewDelivery> {
  const text = asText(bytes)
  const kept = keptHeaders(vendor, headers)
  const envelopes = text === null ? [] : decoded(vendor, text, kept)
  if (envelopes.length > MAX_DELIVERY_EVENTS) {
    throw new Fault('too_many_events', `Send at most ${MAX_DELIVERY_EVENTS} events in one delivery.`)
  }
  return {
    payload_id: newId('pay', now),
    body: text ?? bytes,
    headers: { ...kept, ...keptContentType(headers) },
    events: envelopes.length > 0 ? await eventsOf(envelopes, bytes, now) : [await unknownEvent(bytes, now)],
    received_at: now,
  }
}

async function eventsOf(
  envelopes: readonly Readable[],
  bytes: Uint8Array<ArrayBuffer>,
  now: number,
): Promise<NewEvent[]> {
  const digest = envelopes.some((event) => event.vendor_event_id === null) ? await sha256Hex(bytes) : ''
  const list = await Promise.all(
    envelopes.map(async ({ vendor_event_id, event_type, occurred_at, content }, index) => ({
      id: newId('evt', now),
      vendor_event_id: storedEventId(vendor_event_id, digest, index),
      event_type: event_type.slice(0, MAX_EVENT_TYPE),
      occurred_at,
      // If the id is the digest of the bytes, the content cannot differ.
      content_digest: vendor_event_id === null || !content ? null : await contentDigest(content),
    })),
  )
  // An event that a vendor lists twice in one delivery is one event.
  return [...new Map(list.map((event) => [event.vendor_event_id, event])).values()]
}

/** A verified body that cannot be read is recorded as an unknown event. It fails in processing, where people see it. */
async function unknownEvent(bytes: Uint8Array<ArrayBuffer>, now: number): Promise<NewEvent> {
  const vendor_event_id = await sha256Hex(bytes)
  return { id: newId('evt', now), vendor_event_id, event_type: 'unknown', occurred_at: null, content_digest: null }
}

/** What recording needs to know of an event. It has the content only if the whole event could be read. */
type Readable = Envelope & Partial<Pick<DecodedEvent, 'content'>>

/** The envelopes of a delivery's events. If only an envelope can be read, search and replay find the event by it. */
function decoded(vendor: Vendor, text: string, headers: Record<string, string>): Readable[] {
  try {
    return vendor.decode(text, headers)
  } catch (error) {
    if (error instanceof Undecodable) return error.envelope ? [error.envelope] : []
    throw error
  }
}

/** The headers to keep of a delivery, and what else the vendor keeps for decode(). */
export function keptHeaders(vendor: Vendor, headers: Headers): Record<string, string> {
  const kept = vendor.keptHeaders.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value.slice(0, MAX_KEPT_HEADER)]]
  })
  return { ...Object.fromEntries(kept), ...vendor.keptBeside }
}

/** The content type, which a relay sends on, if it is not the usual one. */
function keptContentType(headers: Headers): Record<string, string> {
  const type = headers.get('Content-Type') ?? ''
  return type === '' || /^application\/json\b/i.test(type) ? {} : { 'content-type': type.slice(0, MAX_KEPT_HEADER) }
}

/**
 * A digest of an event's content. It does not depend on the order of fields or on whitespace, which a vendor may write
 * differently each time.
 *
 * @returns null for content that is nested too deeply
 */
export async function contentDigest(content: Json): Promise<string | null> {
  const text = canonical(content)
  return text === null ? null : (await sha256Hex(text)).slice(0, DIGEST_LENGTH)
}

function canonical(content: Json): string | null {
  try {
    return JSON.stringify(content, (_, value) => (isObject(value) ? sorted(value) : value))
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) return null
    throw error
  }
}

function sorted(object: Json): Json {
  const keys = Object.keys(object)
  return Object.fromEntries(keys.sort().map((key) => [key, object[key]]))
}
