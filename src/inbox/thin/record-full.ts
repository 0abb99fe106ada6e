import type { Runtime } from '../../env'
import { utf8 } from '../../lib/crypto'
import { vendorOf } from '../../vendors'
import { recordDelivery } from '../receive/insert'
import { readDelivery } from '../receive/read-delivery'
import { asRecorded } from '../receive/recording'
import type { SourceKey } from '../refresh/keys'
import type { VendorAnswer } from '../vendor-api/fetch-vendor'

/**
 * Records an event from the vendor's API under the vendor's own id, as if it had been delivered. A delivery of the same event, from
 * another destination of the account, is then a repeat.
 *
 * @returns the id of the event, recorded now or before; null if the connection has changed since it was read
 */
export async function recordFull(
  { db }: Runtime,
  { vendor: name, connection_id: id, connection: { version, packed_from } }: SourceKey,
  { text }: VendorAnswer,
): Promise<string | null> {
  const vendor = vendorOf(name)
  if (!vendor) return null
  const bytes = utf8(text)
  const now = Date.now()
  const contents = await readDelivery(vendor, { headers: new Headers(), bytes, url: '', now })
  const delivery = await asRecorded(contents, packed_from)
  const [event] = await recordDelivery(db, { fence: { id, version }, delivery })
  return event?.id ?? null
}
