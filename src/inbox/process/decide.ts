import type { Effect } from '../../billing/effect'
import { isId } from '../../vendors/lib/read'
import type { Snapshot } from '../../vendors/snapshot'
import { type DecodedEvent, Undecodable, type Vendor } from '../../vendors/vendor'

/** The decoded view of an event as recorded and shown: null-valued where the payload says nothing. */
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
  /** What it did to the billing state; empty for an event of nothing that becomes one. */
  effects: Effect[]
}

/** What processing an event came to. Pure: a function of what was recorded. */
export type Outcome =
  | { status: 'processed' | 'ignored'; summary: DecodedSummary; snapshots: Snapshot[]; error: null }
  | { status: 'failed'; summary: null; snapshots: []; error: string }

/** A recorded event, as its processing needs it. */
export type Recorded = {
  vendor: string
  vendor_event_id: string
  /** The payload: text, or bytes that are no UTF-8; null where it is past its retention. */
  body: string | readonly number[] | null
  headers: Readonly<Record<string, string>>
}

/**
 * Decodes a recorded event and decides what becomes of it.
 *
 * @throws what a bug of ours throws: that is worth a retry, a later version may have mended it
 */
export function process(vendor: Vendor | undefined, recorded: Recorded): Outcome {
  if (!vendor) return failed(`no vendor is named ${recorded.vendor} in this version`)
  if (recorded.body === null) return failed('the payload is no longer kept: it is past its retention')
  if (typeof recorded.body !== 'string') return failed('the payload is not UTF-8 text')
  let decoded: DecodedEvent[]
  let snapshots: Snapshot[]
  try {
    decoded = vendor.decode(recorded.body, recorded.headers)
    snapshots = vendor.snapshots?.(recorded.body) ?? []
  } catch (error) {
    if (error instanceof Undecodable) return failed(error.message)
    if (error instanceof RangeError && /call stack/i.test(error.message))
      return failed('the payload is nested too deeply')
    throw error
  }
  const event = findEvent(decoded, recorded.vendor_event_id)
  if (!event) return failed('the delivery carries no event')
  if (snapshots.some(({ id }) => !isId(id))) return failed('the id of its object is no id')
  if (snapshots.some(({ body }) => JSON.stringify(body).length > MAX_BODY)) return failed('its object is too large')
  const status = event.state ? 'processed' : 'ignored'
  return { status, summary: summaryOf(recorded.vendor, event), snapshots, error: null }
}

const MAX_ID = 300
/**
 * Characters of what is shown of an object. A hundred items, the most a vendor allows, are 12,000; so many tied events
 * as a row keeps are far from the 2,000,000 bytes that a row of D1 holds.
 */
const MAX_BODY = 40_000

/**
 * The id an event is stored under: its vendor's, or the digest of the delivery's bytes where the vendor has none, with
 * the event's place in the delivery from the second one on.
 */
export function storedEventId(vendorEventId: string | null, digest: string, index: number): string {
  if (vendorEventId !== null) return vendorEventId.slice(0, MAX_ID)
  return index === 0 ? digest : `${digest}:${index}`
}

/** The event of a delivery that is stored under this id. */
function findEvent(decoded: readonly DecodedEvent[], storedId: string): DecodedEvent | undefined {
  const named = decoded.find(({ vendor_event_id }) => vendor_event_id?.slice(0, MAX_ID) === storedId)
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
