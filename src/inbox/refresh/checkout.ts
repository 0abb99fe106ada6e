import type { CustomerKey } from '../../billing/customers/read'
import { findLink } from '../../consumers/links'
import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { settingsOf } from '../../tenancy/settings'
import { vendorOf } from '../../vendors'
import { contentsOf } from '../process/decide'
import { askAccounts } from './accounts'
import { ask, type Fetched, news } from './ask'
import { inFlight } from './at-once'
import { findSourceKeys, type SourceKey } from './keys'
import { CHECKOUT_WITHIN_MS } from './limits'
import { recordAndProcess } from './process'
import { keyMissing } from './refresh'

/**
 * Asks the vendor whose checkout this is. If nothing has linked the customer to a consumer yet, a checkout that is paid does so, as its
 * own event would.
 *
 * @returns the customer; null if the vendor gave no answer, or the checkout has no customer yet
 * @throws {Fault} `validation_failed` if the id does not look like one of the vendor's checkouts; `api_key_missing`;
 *   `not_found` if no account has the checkout
 */
export async function customerOfCheckout(
  rt: Runtime,
  projectId: string,
  { vendor, id }: { vendor: string; id: string },
): Promise<CustomerKey | null> {
  const until = Date.now() + CHECKOUT_WITHIN_MS
  const keys = await run(rt.db, findSourceKeys(rt.db, projectId, vendor))
  if (keys.length === 0) throw keyMissing(vendor)
  const api = vendorOf(vendor)?.api
  const call = api?.calls.ofCheckout(id)
  if (!api || !call) throw malformed(api?.vendor ?? vendor)
  const asked = await inFlight(projectId, until, () =>
    askAccounts(rt, { project_id: projectId, keys, sources: [], lane: 'waited' }, (key) => ask(key, [call], until)),
  )
  const [found] = asked?.best?.asked.objects ?? []
  if (asked?.best && found) return customerIn(rt, asked.best.key, found)
  if (asked?.unknown)
    throw new Fault('not_found', 'No connection with an API key belongs to an account that has this checkout.')
  return null
}

async function customerIn(rt: Runtime, key: SourceKey, found: Fetched): Promise<CustomerKey | null> {
  const id = key.api.calls.customerIn(found.object)
  if (id === null) return null
  const customer = { vendor: key.vendor, id }
  // Another kind of object is read with its customer.
  if (found.kind !== 'checkout') return customer
  const [link] = await run(rt.db, findLink(rt.db, key.project_id, customer))
  const isLinked = link?.external_id != null || link?.consumer_id != null
  if (isLinked || link?.erased) return customer
  const records = await news(key, [found], [])
  const settings = settingsOf(key.connection.settings)
  const saying = records.filter(({ id, object, headers }) => {
    const recorded = { text: JSON.stringify(object), headers }
    return contentsOf({ id, vendor: key.vendor, ...key.connection }, recorded, settings).claims.length > 0
  })
  await recordAndProcess(rt, key, saying)
  return customer
}

function malformed(vendor: string): Fault {
  const message = `is not the id of a checkout of ${vendor}`
  return new Fault('validation_failed', `\`checkout.id\` ${message}.`, {
    errors: [{ pointer: '/checkout/id', code: 'malformed', message }],
  })
}
