import type { Kind } from '../lib/billing-kinds'
import type { VendorApi } from './api'
import type { CustomerClaim } from './claim'
import type { VendorEndpoints } from './endpoints'
import type { FetchedKind, StateKind } from './kinds'
import type { Json } from './lib/json'
import type { TOLERANCE_MS } from './limits'
import type { Samples } from './samples'
import type { Snapshot } from './snapshot'

/** A delivery as it was received. */
export type VendorDelivery = {
  headers: Headers
  bytes: Uint8Array<ArrayBuffer>
  /** The address that the vendor sends to: scheme, host and path, no query. */
  url: string
  /** When it was received, in milliseconds since the epoch. */
  now: number
  /** For a vendor with {@link Vendor.keyAddress}. Without it, no key is to be had. */
  keys?: VendorKeys
}

/**
 * The text that a vendor has published at an address, as it is now or was a short time ago; null if it is not to be had at the moment.
 *
 * @param isKey whether a text is what it should be. No other one is kept
 */
export type VendorKeys = (address: string, isKey: (text: string) => boolean) => Promise<string | null>

/** Why a signature was refused. */
export type SignatureCause =
  /** There is no signature header. */
  | 'signature_missing'
  /** The header does not have the vendor's format. */
  | 'signature_malformed'
  /** It is well-formed, but no live secret produces it. */
  | 'signature_mismatch'
  /** A live secret produces it, but its time is too long ago or too far in the future. */
  | 'signature_timestamp'

/**
 * `secret`: the index of the secret that matched. `skew_ms`: now minus the signature's time, where it has one and that is what is wrong.
 * `key_unavailable`: the public key that it needs is not to be had now, so nobody knows whether it is right.
 */
export type SignatureVerification =
  | { ok: true; secret: number }
  | { ok: false; cause: SignatureCause; skew_ms?: number }
  | { ok: false; cause: 'key_unavailable'; skew_ms?: never }

/** One event of a delivery, in our terms. A value that the payload lacks is null. */
export type DecodedEvent = {
  /** The vendor's id of the event. Null if it has none: the digest of the bytes is used instead. */
  vendor_event_id: string | null
  /** The vendor's name of the event. */
  event_type: string
  /** ISO 8601 UTC in the vendor's own precision, never rounded. */
  occurred_at: string | null
  livemode: boolean | null
  api_version: string | null
  object: { type: string | null; id: string | null; status: string | null }
  customer: string | null
  subscription: string | null
  invoice: string | null
  /** The object's total in the currency's minor unit, and the currency in upper case. */
  amount: { value: number; currency: string } | null
  /** The id of the event's own object, then the ids that it refers to directly; at most `MAX_REFS`. */
  refs: string[]
  /** The kind of object that the event describes; null if it does not become billing state. */
  state: StateKind | 'purchase' | null
  /**
   * The event as the vendor sent it, without the fields that the vendor changes from one delivery to the next. It tells
   * a repeat from other content under the same id. Null if the digest of the bytes is the id, and nothing else needs it.
   */
  content: Json | null
}

/** An object as the vendor's API answered. */
export type FetchedObject = {
  kind: FetchedKind
  object: Json
  /** The earliest time of the vendor's at which it can have been so: ISO 8601 UTC. */
  at: string
}

/** What can be read of an event whose object cannot. */
export type Envelope = Pick<DecodedEvent, 'vendor_event_id' | 'event_type' | 'occurred_at'>

/**
 * A billing vendor: how it signs, and what its payloads mean. Nothing outside this folder knows a vendor's field names.
 *
 * To add a vendor, copy the file of one that signs in a similar way and name the new file in index.ts:
 * - gocardless.ts: a header with a MAC of the body; stripe.ts: of a time and the body
 * - polar.ts: the headers of Standard Webhooks
 * - revenuecat.ts: a header that contains the secret itself
 * - adyen.ts: a signature inside the body
 * - paypal.ts: a key of the vendor's own, which it publishes
 */
export type Vendor = {
  /** Headers (lower case) that a signature may be in. Not `authorization`, which says little about who sends. */
  signatureHeaders?: readonly string[]
  /** Headers (lower case) to keep with the payload, for decode(). Never one that contains a secret. */
  keptHeaders: readonly string[]
  /** What else to keep with the payload for decode(), under names that no header can have. */
  keptBeside?: Readonly<Record<string, string>>
  /** What is wrong with the format of a signing secret, as a sentence; null if nothing is. */
  checkSecret: (secret: string) => string | null
  /** Where the vendor publishes the public keys that it signs with. Nothing else is fetched to verify a delivery. */
  keyAddress?: RegExp
  /** How long ago a signature may have been made (ms), where that is not {@link TOLERANCE_MS}. */
  tolerance?: number
  /** What comes before the random part of a secret; absent if that is all. */
  secretBegins?: string
  /**
   * Whether a live secret can forbid what another one allows. If one of a connection's secrets cannot be decrypted, every
   * delivery is then refused.
   */
  needsEverySecret?: true
  /** Checks the signature over the bytes as received, against every live secret, in constant time. */
  verify: (delivery: VendorDelivery, secrets: readonly string[]) => Promise<SignatureVerification>
  /**
   * The events of a verified delivery.
   *
   * @param text the bytes as UTF-8
   * @param headers the kept headers
   * @throws {Undecodable} where the payload is not what the vendor sends, so that no retry can help
   */
  decode: (text: string, headers: Readonly<Record<string, string>>) => DecodedEvent[]
  /**
   * The billing objects that an event describes. Only for vendors whose events become billing state. A delivery has one event, or several that do not contain
   * their objects: the `content` is never null.
   *
   * @param event the `content` of the decoded event
   * @param decoded what the headers may have said too
   * @param itemKeys the keys of metadata that say what was bought: see ITEM_KEYS in purchase-parts.ts
   * @throws {Undecodable} where the event names no object
   */
  snapshots?: (
    event: Json,
    decoded?: Pick<DecodedEvent, 'livemode' | 'event_type' | 'occurred_at'>,
    itemKeys?: readonly string[],
  ) => Snapshot[]
  /**
   * The event that would say what a fetched object says, for `decode`, `snapshots` and `claims`. Only for vendors whose API is asked.
   *
   * @param id of the record, which becomes that of the event
   */
  asEvent?: (id: string, fetched: FetchedObject) => Json
  /**
   * The vendor's own object in the event of a delivery, as sent; null if there is none. It has what `snapshots` has.
   *
   * @param key of the object, for events with several
   */
  object?: (text: string, key: { kind: Kind; id: string }) => Json | null
  /**
   * What the event of a delivery says that the fields which it changed were before: a part of {@link object}. Null if it does not say.
   */
  before?: (text: string) => Json | null
  /**
   * What the event of a delivery says about which end user a customer is: a claim for each value, the most important one
   * first. The first that can be an external id counts.
   *
   * @param event the `content` of the decoded event
   * @param keys of metadata or custom data to look at, the most important one first
   */
  claims?: (event: Json, keys: readonly string[]) => CustomerClaim[]
  /** Whether the project's server can choose the ids of the vendor's customers. */
  takesCustomerIds?: true
  /** Whether the vendor's customers have a default payment method, which their events name. */
  hasDefaultPaymentMethod?: true
  /** The vendor's own API, where the service takes a key to read it. */
  api?: VendorApi
  /** The webhook endpoints of the vendor's accounts, where the service makes and checks them. */
  endpoints?: VendorEndpoints
  /** Test events, where we have some. */
  samples?: Samples
}

/** A payload that can never be decoded, with its envelope where that much can be read. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
  constructor(
    message: string,
    readonly envelope?: Envelope,
  ) {
    super(message)
  }
}
