import type { ApiPattern, ThinEvents, VendorCalls, VendorLists } from './calls'
import type { Json } from './lib/json'
import type { PastEvents } from './past-events'

/** What is wrong with a key, as far as its text shows. `why` is a sentence for people; it never contains the key. */
export type KeyProblem = { problem: 'malformed' | 'too_powerful'; why: string }

/** Something that a key should be able to read. */
export type ApiRead = {
  /** The objects, in our terms and the plural: `subscriptions`. */
  kind: string
  /** The permission, in the vendor's own words. */
  permission: string
  /** The list that shows whether the key has it. Absent where the vendor's own answer about the key tells. */
  probe?: { pattern: ApiPattern; query: Readonly<Record<string, string>> }
}

/** What a vendor says about the key itself. */
export type KeyFacts = {
  livemode: boolean
  /** Its permissions, in the vendor's own words. */
  permissions: readonly string[]
  /** Those permissions that allow more than reading. */
  writes: readonly string[]
}

/** What is known of an event that a connection has received. */
export type KnownEvent = {
  vendor_event_id: string
  event_type: string
  object: { type: string | null; id: string | null }
  customer: string | null
}

/** What every request to a vendor's API needs to know. */
export type VendorHost = {
  /** The name of the vendor as it writes it. */
  vendor: string
  /** The origin that answers for a key: a constant. */
  origin: (key: string) => string
  /** Whether the vendor limits the calls of an address (IP), whatever the key: all projects of a deployment share its addresses. */
  limitsAddress?: true
  /** Ids that every path may have, from what was entered as the key. */
  ids?: (key: string) => Readonly<Record<string, string>>
  /** Whether its ids may have any visible character: they are then encoded. Otherwise they are words, see `isPathId`. */
  anyIds?: true
  /** What a request with this key carries. */
  headers: (key: string) => Readonly<Record<string, string>>
  /** The vendor's code of an error: a word, never a message. */
  errorCode: (body: Json) => string | null
  /** Whether an answer says that the key itself does not work, as opposed to a permission that it lacks. */
  isKeyRefused: (status: number, code: string | null) => boolean
}

/**
 * The API of a vendor, as far as it is read with a customer's key: facts and pure functions. The requests themselves are
 * made by `fetchVendor` of the inbox.
 */
export type VendorApi = VendorHost & {
  /** What is wrong with the form or the power of a key; null if nothing is. */
  checkKey: (key: string) => KeyProblem | null
  /** Whether a key that passed `checkKey` is of the live mode; null if its text does not say. */
  livemodeOf: (key: string) => boolean | null
  /** What is asked for with a key, and what the answers mean. */
  calls: VendorCalls
  /** How imports read an account. Absent where the service imports nothing from the vendor. */
  imports?: VendorLists
  /** The events that name their object but do not contain it. Absent where the vendor sends none. */
  thin?: ThinEvents
  /** How past events are listed. Absent where the vendor has no such list. */
  pastEvents?: PastEvents
  /** What a key should be able to read. */
  reads: readonly ApiRead[]
  /** Where the vendor tells what a key may, and how that reads; null where the answer has another form. */
  about?: { pattern: ApiPattern; facts: (body: Json) => KeyFacts | null }
  /** Where the account has what an event of a connection was about; null for an event that does not tell. */
  sightOf: (event: KnownEvent) => { pattern: ApiPattern; id: string } | null
}

/**
 * What an answer from a vendor means. `key_refused`: no call with this key will work; `permission_missing`: this call does not;
 * `failed`: ask again later (429, 5xx); `other`: the vendor rejected the request.
 */
export type ApiOutcome = 'ok' | 'gone' | 'key_refused' | 'permission_missing' | 'failed' | 'other'

/** @param code the vendor's code of the error, see `errorCode` */
export function outcomeOf(host: VendorHost, status: number, code: string | null): ApiOutcome {
  if (status >= 200 && status < 300) return 'ok'
  if (host.isKeyRefused(status, code)) return 'key_refused'
  if (status === 403) return 'permission_missing'
  if (status === 404 || status === 410) return 'gone'
  return status === 408 || status === 409 || status === 429 || status >= 500 ? 'failed' : 'other'
}
