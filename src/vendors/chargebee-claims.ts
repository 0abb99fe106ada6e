import { chargebeeObjects } from './chargebee-objects'
import { type CustomerClaim, claimedValues, claimsOf } from './claim'
import type { Json } from './lib/json'
import { isoMillis, isoSeconds } from './lib/time'

/**
 * The claims of an event of Chargebee's, which the customer in it makes. Only the project's server writes `meta_data`. Buyers can fill in
 * custom fields (`cf_…`) where a checkout shows them, or change them in its address.
 * https://www.chargebee.com/docs/billing/2.0/customers/custom_fields
 */
export function chargebeeClaims(event: Json, keys: readonly string[]): CustomerClaim[] {
  const customers = chargebeeObjects(event).filter(({ kind }) => kind === 'customer')
  const fields = keys.map((key) => (key.startsWith('cf_') ? key : `cf_${key}`))
  return customers.flatMap(({ id, object }) => {
    const claims = [
      ...claimsOf(id, claimedValues(object.meta_data, keys), 'customer'),
      ...claimsOf(id, claimedValues(object, fields), 'checkout'),
    ]
    // A reminder may have a customer that has not changed for weeks, or has changed since.
    const changed = isoMillis(object.resource_version) ?? isoSeconds(object.updated_at)
    return claims.map((claim) => ({ ...claim, made: { at: changed, id } }))
  })
}
