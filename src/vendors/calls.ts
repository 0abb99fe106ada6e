import type { FetchedKind, NamedKind, StateKind } from './kinds'
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

/** The object that an event names but does not contain, and the calls that read it. */
export type ThinObject = {
  id: string
  call: ObjectsCall & { kind: NamedKind; ids: Readonly<Record<string, string>> }
  /** Where the vendor still has the event if the object is gone, and the event's own account of that object. Absent: nowhere. */
  event?: {
    call: Omit<ObjectsCall, 'kind' | 'objects'>
    /** The call of the event that contains the object; null if there is none. */
    full: (body: Json) => Omit<ObjectsCall, 'kind' | 'objects'> | null
  }
  /**
   * Set if the call reads all that an object of another kind has, and `id` is the id of that one.
   *
   * - `isEmpty`: whether an answer says that there is nothing
   */
  list?: { of: 'customer'; isEmpty: (body: Json) => boolean }
  /** A missing object, as the vendor would show it; null if nothing says why it is missing. Absent: nothing ever does. */
  gone?: (customer: string | null) => Json | null
}

/** What tells the events of a vendor that name their object from the others. An object that becomes no state is left out. */
export type ThinEvents = {
  /** The names of the events, as patterns of SQLite's GLOB. */
  names: readonly string[]
  /** The types of the objects that they name. */
  objects: readonly string[]
  /** Whether the vendor sends no events that contain their object. */
  all?: true
}

/** What an import reads, as the API names it. */
export const LISTED_KINDS = ['customers', 'subscriptions', 'invoices', 'payment_methods', 'prices'] as const
export type ListedKind = (typeof LISTED_KINDS)[number]

/** Which payment methods are read: those that subscriptions or their customers pay with by default, or all of each customer. */
export const PAYMENT_METHODS_READ = ['default', 'all'] as const
export type PaymentMethodsRead = (typeof PAYMENT_METHODS_READ)[number]

/** A vendor's price, with the product that it is of. */
export type VendorPrice = {
  /** The vendor's id of the price. */
  ref: string
  name: string | null
  product: string | null
  product_name: string | null
  /** Whether it can be bought; null if the vendor does not say. */
  active: boolean | null
}

/** How all objects of a kind are read, page by page, the newest first. */
export type ListCall = {
  /** Null: prices, which are no billing state. */
  kind: NamedKind | null
  pattern: ApiPattern
  /** Objects of a page, at most. */
  most: number
  /** `after`: the last object that was read. `since`: from when on (ms) invoices are read. */
  query: (page: { after: string | null; limit: number; since: number }) => Readonly<Record<string, string>>
  /** The objects of a page. Null if the body is no page, or does not say whether there are more. */
  page: (body: Json) => { objects: Json[]; more: boolean } | null
  /** The objects inside a listed one that are read in its place. */
  inside?: (listed: Json) => Json[]
  /** The call that reads objects in the place of a listed one. */
  each?: (listed: Json) => ObjectsCall | null
}

/** How all that an account has is read, for imports. */
export type VendorLists = {
  lists: Readonly<Record<Exclude<ListedKind, 'payment_methods'>, ListCall>>
  /** Null: the vendor has no such payment methods. */
  paymentMethods: Readonly<Record<PaymentMethodsRead, ListCall | null>>
  /** A listed price; null if it has no id that can be kept. */
  priceOf: (object: Json) => VendorPrice | null
  /** Whether an answer says that the object after which a page begins no longer exists. */
  isCursorGone: (status: number, code: string | null) => boolean
}

/** The requests to a vendor's API, and what the answers mean: pure functions that send nothing. */
export type VendorCalls = {
  /** Reads a customer, then what the customer has, kind by kind. */
  ofCustomer: (id: string) => [ObjectsCall, ...ObjectsCall[]]
  /** Reads a checkout by the vendor's id of it; null if the id does not look like one. */
  ofCheckout: (id: string) => ObjectsCall | null
  /** Reads what a purchase is of, by its id, where its events do not say it; null if such an id has none. Absent where events say it. */
  ofItems?: (id: string) => ObjectsCall | null
  /** Reads one object; null if that takes its customer, which is not known, or if an id cannot be in a path. */
  ofObject: (kind: StateKind, id: string, customer: string | null) => ObjectsCall | null
  /** The object that an event only names; null if the event contains its object, or the object becomes no state. */
  ofEvent: (content: Json) => ThinObject | null
  /**
   * The call that says whose an object is, and the customer in its answer. The object then gets that as `customer`. Null if the object says it itself, or
   * nothing does. Absent where objects always say it.
   */
  owner?: (object: Json) => {
    call: Omit<ObjectsCall, 'kind' | 'objects'>
    customerIn: (body: Json) => string | null
  } | null
  /** The customer that an object belongs to, or is. */
  customerIn: (object: Json) => string | null
  /** The calls that complete the lists inside an object. `add` puts an answer into the object. */
  rest: (
    kind: FetchedKind,
    object: Json,
  ) => { call: Omit<ObjectsCall, 'kind'>; add: (rest: Json[], more: boolean) => Json }[]
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
