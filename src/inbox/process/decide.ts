import { claimsIn, sameIdIn } from '../../consumers/claims'
import { utf8 } from '../../lib/crypto'
import type { ReadingSettings } from '../../tenancy/settings'
import { vendorOf } from '../../vendors'
import type { CustomerClaim } from '../../vendors/claim'
import { type EventError, fail } from '../../vendors/event-errors'
import { isId } from '../../vendors/lib/read'
import { MAX_OBJECT_BYTES } from '../../vendors/limits'
import type { Snapshot } from '../../vendors/snapshot'
import { type DecodedEvent, Undecodable } from '../../vendors/vendor'
import type { Connection } from '../connections/connection'
import { fetchedIn } from '../fetched'
import { sourceOfId } from '../sources'
import type { DecodedSummary } from '../summary'
import { MAX_VENDOR_EVENT_ID_LENGTH, MAX_WORD_BYTES } from './limits'
import type { Payload } from './payloads'

/** How processing an event ends: a pure function of what was recorded. */
export type Outcome =
  | {
      status: 'processed' | 'ignored'
      summary: DecodedSummary
      snapshots: Snapshot[]
      claims: CustomerClaim[]
      error: null
    }
  | { status: 'failed'; summary: null; snapshots: []; claims: []; error: EventError }

/** What a payload says. Where it says nothing that can be used, `error` is why, and no retry can fix it. */
export type Contents = {
  events: readonly DecodedEvent[]
  snapshots: Snapshot[]
  claims: CustomerClaim[]
  error: EventError | null
}

/** An event, or the record of a fetch, with what of its connection decides how it is read. */
export type Recorded = { id: string; vendor: string } & Pick<Connection, 'livemode' | 'customer_is_external_id'>

/**
 * Decodes a payload, once for all of its events.
 *
 * @param recorded one of the events
 * @param payload undefined if it is past its retention
 * @param settings of the project
 * @throws what a bug of ours throws. That is worth a retry: a later version may have fixed it.
 */
export function contentsOf(
  { id, vendor, livemode, customer_is_external_id }: Recorded,
  payload: Payload | undefined,
  settings: ReadingSettings,
): Contents {
  const known = vendorOf(vendor)
  if (!known) return useless(fail('vendor_unknown', `this version does not support the vendor ${vendor}`))
  if (!payload) {
    const gone = 'the payload is no longer kept: its retention period has ended, or its consumer was erased'
    return useless(fail('payload_gone', gone))
  }
  if (payload.text === null) return useless(fail('payload_invalid', 'the payload is not UTF-8 text'))
  try {
    const headers = payload.headers ?? {}
    const fetched = sourceOfId(id) === 'fetch' ? fetchedIn(known, id, payload.text, headers) : null
    const events = known.decode(fetched?.event ?? payload.text, headers)
    const [decoded] = events
    const content = decoded?.content
    if (!content) return { events, snapshots: [], claims: [], error: null }
    const snapshots = (known.snapshots?.(content, decoded, settings.purchase_item_keys) ?? []).map((one) =>
      withMode(one, livemode),
    )
    // The object that an event names says who the customer is, once it is fetched.
    const isThin = !fetched && known.api?.thin !== undefined && known.api.calls.ofEvent(content) !== null
    const claims = isThin ? [] : customer_is_external_id ? sameIdIn(decoded) : claimsIn(known, content, settings)
    return {
      events,
      snapshots: fetched
        ? snapshots.map((snapshot) => ({ ...snapshot, read: fetched.readOf(snapshot.kind) }))
        : snapshots,
      claims: claims.map((claim) => fetched?.claimed(claim) ?? claim),
      error: null,
    }
  } catch (error) {
    if (error instanceof Undecodable) return useless(fail('payload_invalid', error.message))
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      return useless(fail('payload_invalid', 'the payload is nested too deeply'))
    }
    throw error
  }
}

/** Decides how a recorded event ends, from what its payload says. */
export function decide(
  { vendor, vendor_event_id }: { vendor: string; vendor_event_id: string },
  { events, snapshots, claims, error }: Contents,
): Outcome {
  if (error !== null) return failed(error)
  const event = eventOfDelivery(events, vendor_event_id)
  if (!event) return failed(fail('payload_invalid', 'the payload contains no event'))
  if (snapshots.some(({ id }) => !isId(id))) {
    return failed(fail('object_id_invalid', 'the id of its billing object is not valid'))
  }
  if (snapshots.some(({ body }) => utf8(JSON.stringify(body)).byteLength > MAX_OBJECT_BYTES)) {
    return failed(fail('object_too_large', 'its billing object is too large'))
  }
  const status = event.state || snapshots.length > 0 || claims.length > 0 ? 'processed' : 'ignored'
  return { status, summary: summaryOf(vendor, event), snapshots, claims, error: null }
}

/**
 * The vendor event id under which an event is stored: the vendor's own, or the digest of the delivery's bytes where the
 * vendor has none. From the second event of a delivery on, its place in the delivery follows the digest.
 */
export function storedEventId(vendorEventId: string | null, digest: string, index: number): string {
  if (vendorEventId !== null) return vendorEventId.slice(0, MAX_VENDOR_EVENT_ID_LENGTH)
  return index === 0 ? digest : `${digest}:${index}`
}

/** Finds the event of a delivery that is stored under this id. */
export function eventOfDelivery(decoded: readonly DecodedEvent[], storedId: string): DecodedEvent | undefined {
  const named = decoded.find(
    ({ vendor_event_id }) => vendor_event_id?.slice(0, MAX_VENDOR_EVENT_ID_LENGTH) === storedId,
  )
  return named ?? decoded[Number(/^[0-9a-f]{64}:(\d+)$/.exec(storedId)?.[1] ?? 0)]
}

/** A snapshot with the mode of its connection, if the vendor does not say in which mode the object is. */
function withMode(snapshot: Snapshot, livemode: boolean): Snapshot {
  const { body } = snapshot
  return 'livemode' in body && body.livemode === null
    ? ({ ...snapshot, body: { ...body, livemode } } as Snapshot)
    : snapshot
}

function useless(error: EventError): Contents {
  return { events: [], snapshots: [], claims: [], error }
}

function failed(error: EventError): Outcome {
  return { status: 'failed', summary: null, snapshots: [], claims: [], error }
}

function summaryOf(vendor: string, event: DecodedEvent): DecodedSummary {
  const { object, amount, livemode } = event
  return {
    vendor,
    object: { type: word(object.type), id: word(object.id), status: word(object.status) },
    customer: word(event.customer),
    subscription: word(event.subscription),
    invoice: word(event.invoice),
    amount: amount && word(amount.currency) === null ? null : amount,
    occurred_at: word(event.occurred_at),
    livemode,
    api_version: word(event.api_version),
    refs: event.refs.filter((ref) => word(ref) !== null),
    effects: [],
  }
}

/** A text that is short enough for the summary, which every list of events reads; else null. */
function word(text: string | null): string | null {
  return text !== null && utf8(text).byteLength <= MAX_WORD_BYTES ? text : null
}
