/** An event of a delivery, to be recorded. */
export type NewEvent = {
  id: string
  vendor_event_id: string
  event_type: string
  occurred_at: string | null
  content_digest: string | null
}

/** A delivery, to be recorded. `body`: text where the bytes are UTF-8 without NUL, else the bytes. */
export type NewDelivery = {
  payload_id: string
  body: string | Uint8Array
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
export type Recording = { fence: Fence; delivery: NewDelivery }
