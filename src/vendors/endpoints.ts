import type { KeyProblem, VendorHost } from './api'
import type { ApiPattern } from './calls'
import { type Json, text } from './lib/json'

/** A request that changes something at a vendor. `body.text` may contain a signing secret. */
export type VendorWrite = {
  method: 'POST' | 'PATCH' | 'DELETE'
  pattern: ApiPattern
  ids?: Readonly<Record<string, string>>
  body?: { type: string; text: string }
}

/** The mark of our endpoints: the connection, and the connection's signing secret that belongs to the endpoint. */
export type EndpointMark = { connection: string; secret: string }

/** A webhook endpoint in a vendor's account, in our terms. */
export type EndpointFacts = {
  id: string
  url: string
  enabled: boolean
  /** The version of the API that its events use; null if the vendor does not say. */
  api_version: string | null
  /** The types of events that it sends; `*` stands for all. */
  events: readonly string[]
  /** Null for an endpoint that this service did not make. */
  mark: EndpointMark | null
  /** Its signing secret; null where the vendor does not show it. */
  secret: string | null
  /** When it was made (ms); null if the vendor does not say. */
  created_at: number | null
}

/** The account that has the endpoints. `name`: what the key alone does not say, see `VendorEndpoints.account`; null at most vendors. */
export type EndpointOwner = { livemode: boolean; name: string | null }

/** An endpoint as it should be. `secret`: a new signing secret, where the vendor does not generate it; null leaves the secret as it is. */
export type WantedEndpoint = EndpointOwner & {
  url: string
  events: readonly string[]
  mark: EndpointMark
  secret: string | null
}

/** A page of a vendor's list. `after`: the `next` of the page before; null for the first one. */
export type EndpointPage = EndpointOwner & { after: string | null }

/** The webhook endpoints of a vendor's account: facts and pure functions. The requests themselves are made by `fetchVendor` and `writeVendor`. */
export type VendorEndpoints = {
  /** The name of the vendor as it writes it. */
  vendor: string
  /** The API of an account. */
  host: (owner: EndpointOwner) => VendorHost
  /** What is wrong with the format of a key; null if nothing is. */
  checkKey: (key: string) => KeyProblem | null
  /** Whether a key is of the live mode; null if it does not tell. */
  livemodeOf: (key: string) => boolean | null
  /** Where the vendor says which mode a key is of, if neither the key nor the host does. `livemode` is null if the body does not say. */
  mode?: { pattern: ApiPattern; livemode: (body: Json) => boolean | null }
  /** What names the account beside the key; absent if the key is enough. */
  account?: AccountName
  /** The permission to change endpoints, in the vendor's own words; null if its keys have no permissions. */
  permission: string | null
  /** The permission to read them. Absent where the service stores no API key, so that it cannot check them by itself. */
  reading?: string
  /**
   * How many endpoints an account may have, according to the vendor's documentation, and whether disabled ones count. Some accounts may have
   * more. Null if nothing is documented.
   */
  limit: { most: number; countsDisabled: boolean } | null
  /** A signing secret in the vendor's format, where we choose it. Absent where the vendor generates it. @param random 32 characters */
  secretOf?: (random: string) => string
  /** Event types without which the billing state becomes wrong. */
  needed: readonly string[]
  /** Further types that the service reads: they say more, or say it sooner. A new endpoint sends them too. */
  useful: readonly string[]
  /** What stands for all types; null if nothing does. */
  all: string | null
  list: {
    pattern: ApiPattern
    query: (page: EndpointPage) => Readonly<Record<string, string>>
    /** `next`: what the next page begins after; null for the last page. Null if the body is no page. */
    page: (body: Json, page: EndpointPage) => { endpoints: EndpointFacts[]; next: string | null } | null
  }
  /** Where the vendor lists endpoints that send thin events, and their addresses. */
  thin?: { pattern: ApiPattern; query: Readonly<Record<string, string>>; urls: (body: Json) => string[] }
  create: (wanted: WantedEndpoint) => VendorWrite
  /** Makes an endpoint as it is wanted, and enables it. */
  change: (id: string, wanted: WantedEndpoint) => VendorWrite
  remove: (id: string) => VendorWrite
  /** The endpoint in the answer to `create` or `change`; null if there is none. */
  made: (body: Json) => EndpointFacts | null
  /** The oldest version of the API whose events the service reads in full; null if there is only one. */
  oldest: string | null
}

/** What names an account of a vendor where the key does not. */
export type AccountName = {
  /** What people call it: `site`. */
  noun: string
  /** Where people find it, as a sentence. */
  where: string
  /** Whether a text can be one. It may become a part of a host name. */
  isName: (text: string) => boolean
  /** Where the vendor lists the names that a key can reach; null if the body is no list. Absent where they must be given. */
  list?: { pattern: ApiPattern; query: Readonly<Record<string, string>>; names: (body: Json) => string[] | null }
}

/** Whether events of this version lack something that the service reads. Versions begin with a date. */
export function isOldVersion({ oldest }: VendorEndpoints, version: string | null): boolean {
  return oldest !== null && version !== null && version < oldest
}

/** Types of events, as people choose them: `invoice.*`. */
export function familiesOf({ needed, useful }: Pick<VendorEndpoints, 'needed' | 'useful'>): string[] {
  return [...new Set([...needed, ...useful].map((type) => type.replace(/[^.]+$/, '*')))].sort()
}

/** A form as Stripe takes it. */
export function bodyOfForm(fields: readonly (readonly [name: string, value: string])[]) {
  const text = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString()
  return { type: 'application/x-www-form-urlencoded', text }
}

/** A body in JSON. */
export function bodyOfJson(value: Json, type = 'application/json') {
  return { type, text: JSON.stringify(value) }
}

/** A mark as a text that people see, for vendors whose endpoints have a name or a description, but no metadata. */
export function markText({ connection, secret }: EndpointMark): string {
  return `Platform API (${connection} ${secret})`
}

/** The mark in such a text; null if there is none. */
export function markIn(value: unknown): EndpointMark | null {
  const [, connection, secret] = /\((con_\w+) (sec_\w+)\)/.exec(text(value) ?? '') ?? []
  return connection === undefined || secret === undefined ? null : { connection, secret }
}

/**
 * A mark in the query of the address, for vendors whose endpoints have nothing else to write it in. What receives deliveries ignores the query.
 * The connection is in the path.
 */
export function withMark(url: string, { secret }: EndpointMark): string {
  return `${url}?endpoint=${secret}`
}

/** An address without the mark, and the mark; null if there is none. */
export function withoutMark(marked: string): { url: string; mark: EndpointMark | null } {
  const [, url, connection, secret] = /^([^?#]+\/(con_\w+))\?endpoint=(sec_\w+)$/.exec(marked) ?? []
  if (url === undefined || connection === undefined || secret === undefined) return { url: marked, mark: null }
  return { url, mark: { connection, secret } }
}
