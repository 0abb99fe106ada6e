import type { FetchedKind } from './kinds'
import { type Json, objects } from './lib/json'

/** A path of a vendor's API, with ids as `{name}`. Always one of ours, never one that a payload has. */
export type ApiPattern = `/${string}`

/** A call of a vendor's API that reads objects of one kind. */
export type ObjectsCall = {
  kind: FetchedKind
  pattern: ApiPattern
  ids?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  /** In addition to those of every call. */
  headers?: Readonly<Record<string, string>>
  /** The objects of an answer, as the vendor sent them, and whether it has more of them. */
  objects: (body: Json) => { objects: Json[]; more: boolean }
}

/** The object that an event names without containing it, and the calls that read it. */
export type NamedObject = {
  id: string
  call: ObjectsCall & { ids: Readonly<Record<string, string>> }
  /** Where the vendor still has the event if the object is gone, and the event's own account of that object. */
  event: {
    call: Omit<ObjectsCall, 'kind' | 'objects'>
    /** The call of the event that contains the object; null if there is none. */
    full: (body: Json) => Omit<ObjectsCall, 'kind' | 'objects'> | null
  }
  /** What a gone object is, as the vendor would show it; null if nothing says what became of it. */
  gone: (customer: string | null) => Json | null
}

/** What an import reads, as the API names it. */
export const LISTED_KINDS = ['customers', 'subscriptions', 'invoices'] as const
export type ListedKind = (typeof LISTED_KINDS)[number]

/** How all objects of a kind are read, page by page, the newest first. */
export type ListCall = {
  kind: FetchedKind
  pattern: ApiPattern
  /** Objects of a page, at most. */
  most: number
  /** `after`: the last object that was read. `since`: from when on (ms) invoices are read. */
  query: (page: { after: string | null; limit: number; since: number }) => Readonly<Record<string, string>>
  /** The objects of a page. Null if the body is no page, or does not say whether there are more. */
  page: (body: Json) => { objects: Json[]; more: boolean } | null
}

/** What is asked of a vendor's API, and what the answers mean: pure functions, without a request. */
export type VendorCalls = {
  /** A customer, then what the customer has, of each kind. */
  ofCustomer: (id: string) => [ObjectsCall, ...ObjectsCall[]]
  /** A checkout that the vendor's page has ended, by the id that the vendor gave it; null if it is no such id. */
  ofCheckout: (id: string) => ObjectsCall | null
  /** What an event names without containing it; null for an event whose object becomes no state, or that contains it. */
  ofEvent: (content: Json) => NamedObject | null
  /** The customer that an object belongs to, or is. */
  customerIn: (object: Json) => string | null
  /** What an object lacks of its lists. Each answer is added with `add`. */
  rest: (
    kind: FetchedKind,
    object: Json,
  ) => { call: Omit<ObjectsCall, 'kind'>; add: (rest: Json[], more: boolean) => Json }[]
  lists: Readonly<Record<ListedKind, ListCall>>
  /** Whether an answer says that the object after which a page was to begin is not there any more. */
  isCursorGone: (status: number, code: string | null) => boolean
  /** When the vendor made an object, as the object says: ISO 8601 UTC. */
  createdAt: (object: Json) => string | null
  /** The time of an object's version, where the vendor gives it one: ISO 8601 UTC. */
  versionOf: (object: Json) => string | null
  /**
   * The headers with which objects are rendered as the events of an account are. Without them, an object would look different
   * though nothing has changed.
   *
   * @param version of the newest event; null if there is none
   */
  headers: (version: string | null) => Readonly<Record<string, string>>
}

/** A page of a list. Null if it does not say whether there are more. */
export function pageOf(data: unknown, more: unknown): ReturnType<ListCall['page']> {
  return Array.isArray(data) && typeof more === 'boolean' ? { objects: objects(data), more } : null
}

/** The answer is the object. */
export const one = (body: Json) => ({ objects: [body], more: false })
