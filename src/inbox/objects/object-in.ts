import type { Kind } from '../../lib/billing-kinds'
import { vendorOf } from '../../vendors'
import type { Json } from '../../vendors/lib/json'
import { parseObject } from '../../vendors/lib/read'
import { sourceOfId } from '../sources'

/**
 * The vendor's own object in a payload, as sent; null if there is none.
 *
 * @param event the id of the event or the fetch that the payload belongs to
 * @param key of the object, for events with several
 * @throws {Undecodable}
 */
export function objectIn(event: string, vendor: string, text: string, key: { kind: Kind; id: string }): Json | null {
  if (sourceOfId(event) === 'fetch') return parseObject(text)
  return vendorOf(vendor)?.object?.(text, key) ?? null
}
