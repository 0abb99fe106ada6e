import type { CustomerKey } from '../billing/customers/read'
import { MAX_ID_LENGTH } from '../billing/limits'
import { noObject } from '../billing/names'
import { vendorOf } from '../vendors'
import { isId } from '../vendors/lib/read'

/** A vendor's customer by name. @throws {Fault} `not_found` if no event could name it */
export function customerNamed(vendor: string, id: string): CustomerKey {
  if (!vendorOf(vendor) || !isId(id) || id.length > MAX_ID_LENGTH) throw noObject('customer')
  return { vendor, id }
}

/** The key of a customer in the cursor of a list. */
export function keyOf({ id, vendor }: CustomerKey): string {
  return `${vendor} ${id}`
}

/** The customer that {@link keyOf} made the key of. */
export function keyIn(key: string): CustomerKey {
  const [vendor = '', ...id] = key.split(' ')
  return { vendor, id: id.join(' ') }
}
