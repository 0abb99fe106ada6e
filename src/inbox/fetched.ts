import type { Kind } from '../lib/billing-kinds'
import type { CustomerClaim } from '../vendors/claim'
import type { FetchedKind } from '../vendors/kinds'
import { parseObject } from '../vendors/lib/read'
import type { Read } from '../vendors/snapshot'
import { Undecodable, type Vendor } from '../vendors/vendor'

/**
 * What is kept with a fetched object, in place of the headers of a delivery. Times are ISO 8601 UTC.
 *
 * - `kind`: what was asked for
 * - `at`, `until`: the earliest and the latest time of the vendor's at which it can have been so
 * - `over`: the rank of the state that was known before it was asked for; empty if there was none
 * - `cause`: the time of the event for which the object was fetched; empty if there was none
 * - `date`: the vendor's `Date`, empty without one; `took`: how long the answer took (ms)
 */
export type FetchHeaders = Record<'kind' | 'at' | 'until' | 'over' | 'cause' | 'date' | 'took', string>

/**
 * The event that says what a recorded fetch says, as JSON; when each kind of object in it was read; and the place of its claims.
 *
 * @throws {Undecodable} if this version asks the vendor for nothing
 */
export function fetchedIn(
  { api, asEvent }: Vendor,
  id: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): { event: string; readOf: (kind: Kind) => Read; claimed: (claim: CustomerClaim) => CustomerClaim } {
  if (!asEvent) throw new Undecodable('this version does not fetch from the vendor')
  const { kind, at = '', until = '', over, cause } = headers as FetchHeaders
  const object = parseObject(text)
  const event = asEvent(id, { kind: kind as FetchedKind, object, at })
  // A transaction also tells of cards: what was known of them before is not kept.
  const readOf = (of: Kind) => ({ at, until, over: of === kind ? over || null : null, cause: cause || null })
  const made = { at: api?.calls.createdAt(object) ?? null, id: String(object.id) }
  const claimed = (claim: CustomerClaim) => (claim.by === 'customer' ? claim : { ...claim, made })
  return { event: JSON.stringify(event), readOf, claimed }
}
