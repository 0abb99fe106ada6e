import { invalidField } from '../../http/validate'
import { Fault } from '../../lib/fault'
import type { VendorHost } from '../../vendors/api'
import type { EndpointFacts, EndpointOwner, EndpointPage, VendorEndpoints, VendorWrite } from '../../vendors/endpoints'
import type { Json } from '../../vendors/lib/json'
import {
  fetchVendor,
  type VendorAnswer,
  type VendorCall,
  VendorCallError,
  writeVendor,
} from '../vendor-api/fetch-vendor'
import { keyUnknown } from '../vendor-api/try-key'
import { SHARED_LIMIT, type Turn } from '../vendor-api/turn'
import { ENDPOINT_CALL_WITHIN, MAX_ENDPOINT_PAGES } from './limits'

/** An account whose endpoints are read or changed. Never log it: `key` is a key of the vendor's API. */
export type EndpointAccount = {
  api: VendorEndpoints
  owner: EndpointOwner
  host: VendorHost
  key: string
  turn: Turn
}

/** What the vendor's lists say, or the vendor's answer if it is not a list. */
export type ListedEndpoints = { endpoints: EndpointFacts[]; thin: string[] } | { refusal: VendorAnswer }

/**
 * Reads the endpoints of an account. Those that send thin events are read only if no endpoint has the address.
 *
 * @throws {VendorCallError}
 */
export async function listVendorEndpoints(
  { api, owner, host, key, turn }: EndpointAccount,
  url: string,
): Promise<ListedEndpoints> {
  const { list, thin } = api
  const limits = { within: ENDPOINT_CALL_WITHIN, turn }
  const endpoints: EndpointFacts[] = []
  let after: string | null = null
  for (let count = 0; count < MAX_ENDPOINT_PAGES; count++) {
    const page: EndpointPage = { ...owner, after }
    const call = { pattern: list.pattern, query: list.query(page) }
    const answer: VendorAnswer = await fetchVendor(host, key, call, limits)
    const read: ReturnType<typeof list.page> =
      answer.outcome === 'ok' && answer.body ? list.page(answer.body, page) : null
    if (!read) return { refusal: answer }
    endpoints.push(...read.endpoints)
    after = read.next
    if (after === null) break
  }
  if (!thin || endpoints.some((one) => one.url === url)) return { endpoints, thin: [] }
  // A key that may not read this list says nothing about thin events.
  const answer = await fetchVendor(host, key, { pattern: thin.pattern, query: thin.query }, limits)
  return { endpoints, thin: answer.outcome === 'ok' && answer.body ? thin.urls(answer.body) : [] }
}

/**
 * Reads the endpoints of an account with a key that somebody has just entered.
 *
 * @throws {Fault} `validation_failed` if the vendor has no such account, and as {@link refusedBy}
 */
export async function requireListed(account: EndpointAccount, url: string) {
  const listed = await calling(() => listVendorEndpoints(account, url))
  if (!('refusal' in listed)) return listed
  const { api, owner } = account
  if (listed.refusal.outcome === 'gone' && api.account && owner.name !== null)
    throw invalidField('/account', 'not_one_of', `is not a ${api.account.noun} that ${api.vendor} has`)
  throw refusedBy(account, listed.refusal)
}

/**
 * Makes a change at the vendor.
 *
 * @returns null if what it is about is gone
 * @throws {Fault} as {@link refusedBy}
 */
export async function changeAtVendor(account: EndpointAccount, write: VendorWrite): Promise<VendorAnswer | null> {
  const answer = await tryChange(account, write)
  if (answer.outcome === 'gone') return null
  if (answer.outcome !== 'ok') throw refusedBy(account, answer)
  return answer
}

/**
 * Reads something else about an account with a key that somebody has just entered.
 *
 * @param read what the body says; null if it does not
 * @throws {Fault} as {@link refusedBy}
 */
export async function requireRead<T>(
  account: EndpointAccount,
  { pattern, query = {} }: Pick<VendorCall, 'pattern' | 'query'>,
  read: (body: Json) => T | null,
): Promise<T> {
  const { host, key, turn } = account
  const answer = await calling(() => fetchVendor(host, key, { pattern, query }, { within: ENDPOINT_CALL_WITHIN, turn }))
  const said = answer.outcome === 'ok' && answer.body ? read(answer.body) : null
  if (said === null) throw refusedBy(account, answer)
  return said
}

/** As {@link changeAtVendor}, and returns any answer. @throws {Fault} `vendor_failed` if there is none */
export function tryChange({ host, key, turn }: EndpointAccount, write: VendorWrite): Promise<VendorAnswer> {
  return calling(() => writeVendor(host, key, write, { within: ENDPOINT_CALL_WITHIN, turn }))
}

async function calling<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof VendorCallError)) throw error
    throw failed(error.message)
  }
}

/** `api_key_invalid`, `api_key_lacks_permission` or `vendor_failed`. It never repeats what the vendor says. */
export function refusedBy({ host, api }: EndpointAccount, { outcome, status, code }: VendorAnswer): Fault {
  const { vendor } = host
  if (outcome === 'key_refused') return keyUnknown(host)
  if (outcome === 'permission_missing') return lacksPermission(vendor, api.permission)
  if (code === SHARED_LIMIT)
    return failed(`All projects together are sending ${vendor} too many requests. Wait a minute.`)
  const named = code === null ? '' : ` (${code})`
  return failed(
    outcome === 'ok' ? `${vendor} sent an unexpected response.` : `${vendor} answered with ${status}${named}.`,
  )
}

/** The fault of a key that a vendor lets do less. @param permission null if the vendor's keys have none */
export function lacksPermission(vendor: string, permission: string | null): Fault {
  const why =
    permission === null
      ? `${vendor} does not let the key do this.`
      : `The key needs this permission at ${vendor}: ${permission}.`
  return new Fault('api_key_lacks_permission', why)
}

function failed(why: string): Fault {
  return new Fault('vendor_failed', `${why} Repeat the call: it finishes the work, and leaves one endpoint.`)
}
