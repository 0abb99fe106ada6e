import type { Snapshot } from './snapshot'

/** One delivery as it came in. */
export type Delivery = {
  headers: Headers
  bytes: Uint8Array<ArrayBuffer>
  /** The address the vendor was told to send to: scheme, host and path, no query. */
  url: string
  /** When it came in, milliseconds since the epoch. */
  now: number
}

/** Why a signature was refused. */
export type SignatureCause =
  /** No signature header at all. */
  | 'signature_missing'
  /** A header, but not of the vendor's form. */
  | 'signature_malformed'
  /** Well-formed, but no live secret makes it. */
  | 'signature_mismatch'
  /** Made by a live secret, too long ago or too far ahead. */
  | 'signature_timestamp'

/** `secret`: the index of the secret that matched. `skew_ms`: now minus the signature's time, where it has one. */
export type Verification = { ok: true; secret: number } | { ok: false; cause: SignatureCause; skew_ms?: number }

/** The vendor's objects that become billing state; null for events of anything else. */
export type StateKind = 'subscription' | 'invoice' | 'payment_method'

/** One event of a delivery, in the house's terms. Absent values are null. */
export type DecodedEvent = {
  /** The vendor's own id of the event; null where it has none: the digest of the bytes then takes its place. */
  vendor_event_id: string | null
  /** The vendor's own name of the event. */
  event_type: string
  /** ISO 8601 UTC in the vendor's own precision: never rounded. */
  occurred_at: string | null
  livemode: boolean | null
  api_version: string | null
  object: { type: string | null; id: string | null; status: string | null }
  customer: string | null
  subscription: string | null
  invoice: string | null
  /** The object's total in the currency's minor unit, and the currency in upper case. */
  amount: { value: number; currency: string } | null
  /** Ids of the event's own object and of what it refers to directly: its own first, at most {@link MAX_REFS}. */
  refs: string[]
  /** What of the billing state this event speaks of. */
  state: StateKind | null
}

/** What of an event can be told without its object. */
export type Envelope = Pick<DecodedEvent, 'vendor_event_id' | 'event_type' | 'occurred_at'>

/** Billing vendors: how each signs and what its payloads mean. Nothing outside this folder knows a vendor's fields. */
export type Vendor = {
  /** Headers (lower case) worth keeping beside the payload; decode() gets them back. Never one that holds a secret. */
  keptHeaders: readonly string[]
  /** What is wrong with a signing secret's form, as a sentence; null where nothing is. */
  checkSecret: (secret: string) => string | null
  /** Checks the signature over the bytes as they came, against every live secret, in constant time. */
  verify: (delivery: Delivery, secrets: readonly string[]) => Promise<Verification>
  /**
   * The events of a verified delivery.
   *
   * @param text the bytes as UTF-8
   * @param headers the kept headers
   * @throws {Undecodable} where the payload is not what the vendor sends: no retry mends that
   */
  decode: (text: string, headers: Readonly<Record<string, string>>) => DecodedEvent[]
  /**
   * What the event of a delivery says of billing objects, for a vendor that sends one event a delivery.
   *
   * @throws {Undecodable} where it names no object
   */
  snapshots?: (text: string) => Snapshot[]
}

export const MAX_REFS = 8

/** How far a signature's time may be from ours, either way. */
export const TOLERANCE_MS = 300_000

/** A payload that cannot be read, and never will be; with its envelope, where that much can. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
  constructor(
    message: string,
    readonly envelope?: Envelope,
  ) {
    super(message)
  }
}
