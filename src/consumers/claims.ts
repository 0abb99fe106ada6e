import type { Effect } from '../billing/effect'
import { nanoseconds } from '../billing/reduce'
import type { LinkSettings } from '../tenancy/settings'
import type { Claim } from '../vendors/claim'
import type { Json } from '../vendors/lib/json'
import { isId } from '../vendors/lib/read'
import { STEPS, type Step } from '../vendors/snapshot'
import type { Vendor } from '../vendors/vendor'
import { EXTERNAL_ID } from './ref'

/**
 * The claim in an event, as a list: the first one that can be true. Others, such as one with a text that cannot be an
 * external id, are skipped.
 */
export function claimsIn(vendor: Vendor, event: Json, { consumer_keys, link_hints }: LinkSettings): Claim[] {
  const found = vendor.claims?.(event, consumer_keys) ?? []
  return found
    .filter(
      ({ customer, external_id, by }) =>
        isId(customer) && EXTERNAL_ID.test(external_id) && (link_hints || by === 'customer'),
    )
    .slice(0, 1)
}

/** The event of a claim. `step`: null if it describes no billing object. */
type Source = {
  vendor: string
  vendor_event_id: string
  occurred_at: string | null
  step: Step | null
  event_id: string
}

/**
 * A claim as it is recorded: see `recordClaims`. Its rank sorts the claims of a customer: by the vendor's time, an event
 * without one first; then by the step, as billing objects do; then by the vendor's id of the event. It ends with our id of the
 * event.
 */
export function claimed(
  { customer, external_id, by }: Claim,
  { vendor, vendor_event_id, occurred_at, step, event_id }: Source,
) {
  const rank = [nanoseconds(occurred_at), step ?? STEPS.updated, vendor_event_id, event_id].join(' ')
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
