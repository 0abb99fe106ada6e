import type { Effect } from '../billing/effect'
import { nanoseconds } from '../billing/reduce'
import type { Claim } from '../vendors/claim'
import { isId, type Json } from '../vendors/lib/read'
import type { Vendor } from '../vendors/vendor'
import { EXTERNAL_ID } from './ref'
import { CONSUMER_KEYS, LINK_HINTS } from './settings'

/** The claims of an event that can be true: others, such as one with a text that is no external id, are left out. */
export function claimsIn(vendor: Vendor, event: Json): Claim[] {
  const found = vendor.claims?.(event, CONSUMER_KEYS) ?? []
  return found.filter(
    ({ customer, external_id, by }) =>
      isId(customer) && EXTERNAL_ID.test(external_id) && (LINK_HINTS || by === 'customer'),
  )
}

/** A claim as it is recorded: see `recordClaims`. The rank sorts claims by the vendor's time, and names the event. */
export function claimed(
  { customer, external_id, by }: Claim,
  { vendor, occurred_at, event_id }: { vendor: string; occurred_at: string | null; event_id: string },
) {
  const rank = `${nanoseconds(occurred_at)} ${event_id}`
  return {
    vendor,
    customer,
    ...(by === 'customer' ? { said: external_id, said_rank: rank } : { hint: external_id, hint_rank: rank }),
  }
}

/** What an event with a claim did, as it is recorded with the event. It does not say which consumer: that is about a person. */
export function effectOf({ customer }: Claim): Effect {
  return { kind: 'customer_link', id: customer, result: 'applied', change: null }
}
