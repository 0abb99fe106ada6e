import type { Effect } from '../../billing/effect'
import { isId } from '../../vendors/lib/read'
import type { Snapshot } from '../../vendors/snapshot'
import { type DecodedEvent, Undecodable, type Vendor } from '../../vendors/vendor'
import { MAX_OBJECT_LENGTH, MAX_VENDOR_EVENT_ID_LENGTH } from './limits'

/** The decoded view of an event, as stored and shown. Null where the payload has no such value. */
export type DecodedSummary = {
  vendor: string
  object: { type: string | null; id: string | null; status: string | null }
  customer: string | null
  subscription: string | null
  invoice: string | null
  amount: { value: number; currency: string } | null
  occurred_at: string | null
  livemode: boolean | null
  api_version: string | null
  refs: string[]
  /** What it did to billing objects. Empty for an event that affects none. */
  effects: Effect[]
}

/** How processing an event ends: a pure function of what was recorded. */
export type Outcome =
  | { status: 'processed' | 'ignored'; summary: DecodedSummary; snapshots: Snapshot[]; error: null }
  | { status: 'failed'; summary: null; snapshots: []; error: string }

/** A recorded event, as its processing needs it. */
export type Recorded = {
  vendor: string
  vendor_event_id: string
  /** The payload: text, or bytes that are not UTF-8. Null where it is past its retention. */
  body: string | readonly number[] | null
  headers: Readonly<Record<string, string>>
}

/**
 * Decodes a recorded event and decides how it ends. An error that no retry can fix makes it `failed`.
 *
 * @throws what a bug of ours throws. That is worth a retry: a later version may have fixed it.
 */
export function decide(vendor: Vendor | undefined, recorded: Recorded): Outcome {
  if (!vendor) return failed(`this version does not support the vendor ${recorded.vendor}`)
  if (recorded.body === null) return failed('the payload is no longer kept: its retention period has ended')
  if (typeof recorded.body !== 'string') return failed('the payload is not UTF-8 text')
  let decoded: DecodedEvent[]
  let snapshots: Snapshot[]
  try {
    decoded = vendor.decode(recorded.body, recorded.headers)
    snapshots = vendor.snapshots?.(recorded.body) ?? []
  } catch (error) {
    if (error instanceof Undecodable) return failed(error.message)
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      return failed('the payload is nested too deeply')
    }
    throw error
  }
  const event = findEvent(decoded, recorded.vendor_event_id)
  if (!event) return failed('the payload contains no event')
  if (snapshots.some(({ id }) => !isId(id))) return failed('the id of its billing object is not valid')
  if (snapshots.some(({ body }) => JSON.stringify(body).length > MAX_OBJECT_LENGTH)) {
    return failed('its billing object is too large')
  }
  const status = event.state ? 'processed' : 'ignored'
  return { status, summary: summaryOf(recorded.vendor, event), snapshots, error: null }
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
function findEvent(decoded: readonly DecodedEvent[], storedId: string): DecodedEvent | undefined {
  const named = decoded.find(
    ({ vendor_event_id }) => vendor_event_id?.slice(0, MAX_VENDOR_EVENT_ID_LENGTH) === storedId,
  )
  return named ?? decoded[Number(/^[0-9a-f]{64}:(\d+)$/.exec(storedId)?.[1] ?? 0)]
}

function failed(error: string): Outcome {
  return { status: 'failed', summary: null, snapshots: [], error }
}

function summaryOf(vendor: string, event: DecodedEvent): DecodedSummary {
  const { object, customer, subscription, invoice, amount, occurred_at, livemode, api_version, refs } = event
  return {
    vendor,
    object,
    customer,
    subscription,
    invoice,
    amount,
    occurred_at,
    livemode,
    api_version,
    refs,
    effects: [],
  }
}
