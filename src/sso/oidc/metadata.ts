import * as oauth from 'oauth4webapi'
import { ourHosts } from '../../http/our-hosts'
import { BoundedMap } from '../../lib/bounded-map'
import { fetchOutside, outsideUrl } from '../../lib/fetch-outside'
import type { Host } from './client'
import { during, SsoError } from './error'
import { MAX_PROVIDERS, METADATA_TTL } from './limits'

export type Metadata = Required<Pick<oauth.AuthorizationServer, 'authorization_endpoint'>> & oauth.AuthorizationServer

const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
const OPTIONAL = ['userinfo_endpoint', 'end_session_endpoint'] as const
/** What else the library and the flow read. The rest of a document is not kept. */
const READ = [
  'issuer',
  'authorization_response_iss_parameter_supported',
  'id_token_signing_alg_values_supported',
] as const

/** Public facts, which requests of an isolate share. The library keeps a provider's keys by this object. */
const known = new BoundedMap<string, { metadata: Metadata; at: number }>(MAX_PROVIDERS)

/**
 * The library's requests, sent through the one door for outside fetches. Each sign-in makes its own: the library lets requests
 * for keys that have the same function share one response, and a response belongs to one request of a Worker.
 */
export function outsideFetch({ settings }: Pick<Host, 'settings'>) {
  const accept = ['application/json', 'application/jwk-set+json']
  return {
    [oauth.customFetch]: (url: string, { method, headers, body }: oauth.CustomFetchOptions<'GET' | 'POST', unknown>) =>
      fetchOutside(url, {
        ours: ourHosts(settings),
        accept: headers.accept?.includes('jwk-set') ? accept : accept.slice(0, 1),
        method,
        headers,
        ...(body instanceof URLSearchParams && { body }),
      }),
  }
}

/**
 * The metadata of a provider, from its discovery document or from the memory of this isolate.
 *
 * @throws {SsoError} `provider_unreachable`, `discovery_failed`
 */
export async function metadataOf(rt: Host, issuer: string): Promise<Metadata> {
  const kept = known.get(issuer)
  if (kept && rt.now - kept.at < METADATA_TTL) return kept.metadata
  const metadata = await during('discovery_failed', [], () => fetchMetadata(rt, issuer))
  known.set(issuer, { metadata, at: rt.now })
  return metadata
}

/**
 * Fetches a provider's discovery document anew. It never throws for what the provider does.
 *
 * @returns `detail`: in words, why it cannot be used; null if it can
 */
export async function discover(rt: Host, issuer: string): Promise<{ ok: boolean; detail: string | null }> {
  known.delete(issuer)
  try {
    await metadataOf(rt, issuer)
    return { ok: true, detail: null }
  } catch (error) {
    if (!(error instanceof SsoError)) throw error
    return { ok: false, detail: error.message }
  }
}

/**
 * Checks the address of an issuer, without fetching it.
 *
 * @throws {OutsideRefusal | SsoError} whose message says what is wrong
 */
export function issuerUrl({ settings }: Pick<Host, 'settings'>, issuer: string): URL {
  const url = outsideUrl(issuer, ourHosts(settings))
  // OpenID Connect Discovery 1.0, section 3.
  if (/[?#]/.test(issuer)) throw new SsoError('discovery_failed', 'An issuer has no query and no fragment.')
  return url
}

async function fetchMetadata(rt: Host, issuer: string): Promise<Metadata> {
  const url = issuerUrl(rt, issuer)
  const response = await oauth.discoveryRequest(url, outsideFetch(rt))
  const found = await oauth.processDiscoveryResponse(url, response)
  const ours = ourHosts(rt.settings)
  for (const name of [...REQUIRED, ...OPTIONAL]) checkEndpoint(name, found[name], ours)
  const entries = [...READ, ...REQUIRED, ...OPTIONAL].map((name) => [name, found[name]])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Metadata
}

/** Characters of an endpoint's address. One is kept with the connection. */
const MAX_ENDPOINT = 2000

function checkEndpoint(name: string, address: unknown, ours: readonly string[]): void {
  if (address === undefined && OPTIONAL.some((optional) => optional === name)) return
  if (typeof address !== 'string') throw new SsoError('discovery_failed', `It has no ${name}.`)
  if (address.length > MAX_ENDPOINT) throw new SsoError('discovery_failed', `Its ${name} is too long.`)
  try {
    outsideUrl(address, ours)
  } catch (error) {
    throw new SsoError('discovery_failed', `Its ${name} is refused. ${(error as Error).message}`)
  }
}
