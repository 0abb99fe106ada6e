import { Fault } from '../../lib/fault'
import type { VendorHost } from '../../vendors/api'
import type { EndpointFacts, VendorEndpoints, VendorWrite } from '../../vendors/endpoints'
import { fetchVendor, type VendorAnswer, VendorCallError, writeVendor } from '../vendor-api/fetch-vendor'
import { keyUnknown } from '../vendor-api/try-key'
import { SHARED_LIMIT, type Turn } from '../vendor-api/turn'
import { ENDPOINT_CALL_WITHIN, MAX_ENDPOINT_PAGES } from './limits'

/** An account whose endpoints are read or changed. Never log it: `key` is a key of the vendor's API. */
export type EndpointAccount = { api: VendorEndpoints; host: VendorHost; key: string; turn: Turn }

/** What the vendor's lists say, or the vendor's answer if it is not a list. */
export type ListedEndpoints = { endpoints: EndpointFacts[]; thin: string[] } | { refusal: VendorAnswer }

/**
 * Reads the endpoints of an account. Those that send thin events are read only if no endpoint has the address.
 *
 * @throws {VendorCallError}
 */
export async function listVendorEndpoints(
  { api, host, key, turn }: EndpointAccount,
  url: string,
): Promise<ListedEndpoints> {
  const { list, thin } = api
  const limits = { within: ENDPOINT_CALL_WITHIN, turn }
  const endpoints: EndpointFacts[] = []
  let after: string | null = null
  for (let page = 0; page < MAX_ENDPOINT_PAGES; page++) {
    const answer: VendorAnswer = await fetchVendor(
      host,
      key,
      { pattern: list.pattern, query: list.query(after) },
      limits,
    )
    const read: ReturnType<typeof list.page> = answer.outcome === 'ok' && answer.body ? list.page(answer.body) : null
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
 * @throws {Fault} as {@link refusedBy}
 */
export async function requireListed(account: EndpointAccount, url: string) {
  const listed = await calling(() => listVendorEndpoints(account, url))
  if ('refusal' in listed) throw refusedBy(account, listed.refusal)
  return listed
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
  if (outcome === 'permission_missing')
    return new Fault('api_key_lacks_permission', `The key needs this permission at ${vendor}: ${api.permission}.`)
  if (code === SHARED_LIMIT) return failed(`Together, all projects send ${vendor} too many requests. Wait a minute.`)
  const named = code === null ? '' : ` (${code})`
  return failed(
    outcome === 'ok' ? `${vendor} sent an unexpected answer.` : `${vendor} answered with ${status}${named}.`,
  )
}

function failed(why: string): Fault {
  return new Fault('vendor_failed', `${why} Repeat the call: it finishes the work, and leaves one endpoint.`)
}
