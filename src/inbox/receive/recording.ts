import { newKey, otherKey, type Packed, packed } from '../packing'

/** An event of a delivery, to be recorded. */
export type NewEvent = {
  id: string
  vendor_event_id: string
  event_type: string
  occurred_at: string | null
  content_digest: string | null
  /** 0: it was not delivered, but read from the vendor’s list of events. One delivery by default. */
  deliveries?: 0
}

/** A delivery, to be recorded. `body`: text where the bytes are UTF-8 without NUL, else the bytes. */
export type NewDelivery = Received & { payload_id: string; body: string | Uint8Array<ArrayBuffer> }

/** The same with its body packed, as it is recorded now. */
export type PackedDelivery = Received & { key: number; packed: Packed }

type Received = {
  headers: Record<string, string>
  events: readonly NewEvent[]
  /** When the delivery came in (ms). */
  received_at: number
}

/**
 * The condition for recording a delivery: the connection still has the version that verified it, or, for a spooled
 * delivery, the secret that verified it is still live.
 */
export type Fence = { id: string; version: number } | { id: string; secret_id: string }

/** A delivery and its fence. */
export type Recording = { fence: Fence; delivery: NewDelivery | PackedDelivery }

/** The delivery as it is to be recorded: packed, if it came when the previous version no longer ran. @param packedFrom milliseconds */
export function asRecorded(delivery: NewDelivery, packedFrom: number): NewDelivery | PackedDelivery {
  const { payload_id: _, body, ...received } = delivery
  if (delivery.received_at < packedFrom) return delivery
  return { ...received, key: newKey(delivery.received_at), packed: packed(body) }
}

/** The same recording with a new key, for when another body has its key. */
export function withOtherKey({ fence, delivery }: Recording): Recording {
  return { fence, delivery: 'key' in delivery ? { ...delivery, key: otherKey(delivery.received_at) } : delivery }
}

/** What the events of a delivery say of its payload. */
export function payloadIdOf(delivery: NewDelivery | PackedDelivery): string {
  return 'key' in delivery ? String(delivery.key) : delivery.payload_id
}
