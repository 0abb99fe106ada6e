import { at, integer, isObject, text } from './lib/read'

/**
 * What an event says about which end user one of the vendor's customers is, by the id that the project gives that user.
 */
export type Claim = {
  /** The vendor's id of the customer. */
  customer: string
  external_id: string
  /**
   * `customer`: the customer object itself says so, which only the project's server writes. `checkout`: a checkout, a
   * subscription or a transaction does, where a buyer may have chosen the value.
   */
  by: 'customer' | 'checkout'
}

/** The value of the first of these keys that has one. A number counts as its digits. */
export function firstValue(pairs: unknown, keys: readonly string[]): string | null {
  if (!isObject(pairs)) return null
  for (const key of keys) {
    if (!Object.hasOwn(pairs, key)) continue
    const value = at(pairs, key)
    const found = text(value) ?? integer(value)?.toString() ?? null
    if (found !== null) return found
  }
  return null
}

/** A claim as a list: none if the customer or the value is missing. */
export function claimOf(customer: string | null, external_id: string | null, by: Claim['by']): Claim[] {
  return customer === null || external_id === null ? [] : [{ customer, external_id, by }]
}
