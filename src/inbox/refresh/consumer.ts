import type { CustomerKey } from '../../billing/customers/read'
import type { Link } from '../../consumers/links'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { withoutGuest } from '../../vendors/guest'
import { customerOfCheckout } from './checkout'
import { MAX_REFRESHED_CUSTOMERS } from './limits'
import { countRefresh } from './rate'
import { type Refreshed, refreshCustomer } from './refresh'
import type { RefreshState } from './state'

type Asked = { links: readonly Link[]; checkout: { vendor: string; id: string } | undefined }

/**
 * Refreshes the customers of a consumer, and the one of a checkout, at the same time.
 *
 * @throws {Fault} `api_key_missing` if none of them can be asked; what `customerOfCheckout` throws
 */
export async function refreshConsumer(
  rt: Runtime,
  projectId: string,
  { links, checkout }: Asked,
): Promise<{ state: RefreshState; customers: Refreshed[] }> {
  const paid = checkout && (await customerOfCheckout(rt, projectId, checkout))
  const isAsked = ({ erased, vendor, id }: Link) => !erased && withoutGuest(vendor, id) !== null
  const own = links.filter(isAsked).map(({ vendor, id }) => ({ vendor, id }))
  const all = new Map([...(paid ? [paid] : []), ...own].map((one) => [`${one.vendor} ${one.id}`, one]))
  const some = [...all.values()].slice(0, MAX_REFRESHED_CUSTOMERS)
  // The call itself was counted as one.
  for (const _ of some.slice(1)) await countRefresh(rt, projectId)
  const ended = await Promise.all(
    some.map((customer) => refreshOne(rt, projectId, customer, customer === paid ? 0 : undefined)),
  )
  const customers = ended.flatMap((one) => (one instanceof Fault ? [] : [one]))
  const fault = ended.find((one) => one instanceof Fault)
  if (fault && customers.length === 0) throw fault
  const states = new Set(customers.map(({ state }) => state))
  const isWhole = customers.length === all.size && !(checkout && !paid)
  if (isWhole && states.size === 1 && states.has('fresh')) return { state: 'fresh', customers }
  return { state: states.has('fresh') || states.has('partial') ? 'partial' : 'stale', customers }
}

/** What is wrong with one customer, and leaves the others as they are. */
const ALONE: readonly string[] = ['api_key_missing', 'not_found', 'consumer_erased']

/** @returns the fault if the customer cannot be asked for: no key, or nobody knows it. The others are asked all the same. */
async function refreshOne(
  rt: Runtime,
  projectId: string,
  customer: CustomerKey,
  freshFor?: number,
): Promise<Refreshed | Fault> {
  try {
    return await refreshCustomer(rt, projectId, customer, freshFor)
  } catch (error) {
    if (error instanceof Fault && ALONE.includes(error.fault)) return error
    throw error
  }
}
