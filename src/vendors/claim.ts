import { integer, isObject, text } from './lib/json'

/**
 * What an event says about which end user one of the vendor's customers is, by the id that the project gives that user.
 */
export type CustomerClaim = {
  /** The vendor's id of the customer. */
  customer: string
  external_id: string
  /**
   * `customer`: the customer object itself says so, which only the project's server writes. `checkout`: a checkout, a
   * subscription or a transaction does, where a buyer may have chosen the value.
   */
  by: 'customer' | 'checkout'
  /**
   * Of an object that is older than the event, or was fetched: when the vendor made it (ISO 8601 UTC; null if it does not say), and its
   * id. They take the place of those of an event in the order of claims, so that it does not matter when it was asked for.
   */
  made?: { at: string | null; id: string }
}

/** The values of these keys, in their order. A number counts as its digits; what is neither a text nor a number is left out. */
export function claimedValues(pairs: unknown, keys: readonly string[]): string[] {
  if (!isObject(pairs)) return []
  return keys
    .filter((key) => Object.hasOwn(pairs, key))
    .map((key) => text(pairs[key]) ?? integer(pairs[key])?.toString())
    .filter((value) => value !== undefined)
}

/** A claim for each value, in their order; none if the customer is missing. */
export function claimsOf(customer: string | null, values: readonly string[], by: CustomerClaim['by']): CustomerClaim[] {
  return customer === null ? [] : values.map((external_id) => ({ customer, external_id, by }))
}
