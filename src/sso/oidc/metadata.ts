import * as oauth from 'oauth4webapi'
import { ourHosts } from '../../http/our-hosts'
import { BoundedMap } from '../../lib/bounded-map'
import { fetchOutside, outsideUrl } from '../../lib/fetch-outside'
import { during, SsoError } from './error'
import { MAX_ALGORITHM, MAX_ALGORITHMS, MAX_KEYS_BYTES, MAX_PROVIDERS, METADATA_TTL } from './limits'
import type { Host } from './oidc-client'

export type ProviderMetadata = Required<Pick<oauth.AuthorizationServer, 'authorization_endpoint'>> &
  oauth.AuthorizationServer

const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
const OPTIONAL = ['userinfo_endpoint', 'end_session_endpoint'] as const
/** Public facts, which requests of an isolate share. The library keeps a provider's keys by this object. */
const known = new BoundedMap<string, { metadata: ProviderMetadata; at: number }>(MAX_PROVIDERS)

/**
 * The library's requests, sent through the one door for outside fetches. Each sign-in makes its own: the library lets requests
 * for keys that have the same function share one response, and a response belongs to one request of a Worker.
 *
 * @param until when the last of them must have ended (ms)
 */
export function outsideFetch({ settings }: Pick<Host, 'settings'>, until = Number.POSITIVE_INFINITY) {
  const accept = ['application/json', 'application/jwk-set+json']
  return {
    [oauth.customFetch]: (
      url: string,
      { method, headers, body }: oauth.CustomFetchOptions<'GET' | 'POST', unknown>,
    ) => {
      const isForKeys = headers.accept?.includes('jwk-set')
      return fetchOutside(url, {
        ours: ourHosts(settings),
        accept: isForKeys ? accept : accept.slice(0, 1),
        method,
        headers,
        ...(isForKeys && { most: MAX_KEYS_BYTES }),
        within: Math.max(1, until - Date.now()),
        ...(body instanceof URLSearchParams && { body }),
      })
    },
  }
}

/**
 * The metadata of a provider, from its discovery document or from the memory of this isolate.
 *
 * @throws {SsoError} `provider_unreachable`, `discovery_failed`
 */
export async function metadataOf(rt: Host, issuer: string): Promise<ProviderMetadata> {
  const kept = known.get(issuer)
  if (kept && rt.now - kept.at < METADATA_TTL) return kept.metadata
  return refresh(rt, issuer)
}

async function refresh(rt: Host, issuer: string): Promise<ProviderMetadata> {
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
  try {
    await refresh(rt, issuer)
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
  const [, host] = /^https:\/\/([^/?#]+?)(?::443)?(?:[/?#]|$)/i.exec(issuer) ?? []
  if (host?.toLowerCase() !== url.hostname || issuer.includes('\\'))
    throw new SsoError('discovery_failed', 'An issuer must name its host plainly, without escapes or backslashes.')
  // OpenID Connect Discovery 1.0, section 3.
  if (/[?#]/.test(issuer)) throw new SsoError('discovery_failed', 'An issuer must not have a query or a fragment.')
  return url
}

async function fetchMetadata(rt: Host, issuer: string): Promise<ProviderMetadata> {
  const url = issuerUrl(rt, issuer)
  const response = await oauth.discoveryRequest(url, outsideFetch(rt))
  const found = await oauth.processDiscoveryResponse(url, response)
  const ours = ourHosts(rt.settings)
  for (const name of [...REQUIRED, ...OPTIONAL]) checkEndpoint(name, found[name], ours)
  const endpoints = [...REQUIRED, ...OPTIONAL].map((name) => [name, found[name]])
  return { ...(Object.fromEntries(endpoints) as ProviderMetadata), ...readOf(found) }
}

/** What else the library and the flow read. The rest of a document is not kept, as the memory of an isolate is shared. */
function readOf(found: oauth.AuthorizationServer): Partial<oauth.AuthorizationServer> & { issuer: string } {
  const { issuer, authorization_response_iss_parameter_supported, id_token_signing_alg_values_supported: algs } = found
  if (algs !== undefined && !Array.isArray(algs))
    throw new SsoError('discovery_failed', 'Its id_token_signing_alg_values_supported is not a list.')
  const algorithms = algs
    ?.filter((alg) => typeof alg === 'string' && alg.length <= MAX_ALGORITHM)
    .slice(0, MAX_ALGORITHMS)
  return {
    issuer,
    ...(authorization_response_iss_parameter_supported === true && {
      authorization_response_iss_parameter_supported: true,
    }),
    ...(algorithms && { id_token_signing_alg_values_supported: algorithms }),
  }
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
