import type { PlatformClient } from './connect.js'
import { PlatformError, unwrap } from './errors.js'

/** True for a boolean, a number or `'unlimited'` for a quantity, JSON for a config. */
export type EntitlementValue = string | number | boolean | object

/** The claims of an entitlement token. */
export type EntitlementClaims = {
  iss: string
  aud: string
  /** The consumer's id. */
  sub: string
  /** The first of your own ids for the consumer. */
  external_id?: string | null
  device?: string
  iat: number
  /** Until when the token is valid (seconds). */
  exp: number
  /** The value of each feature that is allowed. A feature that is not allowed is left out. */
  ent: Record<string, EntitlementValue>
}

type Header = { alg: string; kid: string; typ: string }
type Decoded = { header: Header; claims: EntitlementClaims; signed: string; signature: BufferSource }
type Api = Pick<PlatformClient, 'GET' | 'baseUrl' | 'projectId'>

const ES256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
/** How long the keys of a project are used without asking again. */
const KEYS_MS = 5 * 60_000
/** How long after that a key that nobody knows leads to no further request. */
const UNKNOWN_KEY_MS = 60_000
const AFTER_FAILURE_MS = 5_000

/**
 * Verifies entitlement tokens without a call: only the public keys of the project are fetched, once in five minutes. The client
 * needs no token for that.
 *
 * @param issuer the issuer to expect, if the API calls itself by another address than `baseUrl`
 * @returns a function that returns the claims of a token
 * @throws PlatformError `invalid_token`; or why the keys could not be fetched
 */
export function tokenVerifier(
  api: Api,
  { issuer = `${api.baseUrl.replace(/\/$/, '')}/p/${api.projectId}` }: { issuer?: string } = {},
): (token: string) => Promise<EntitlementClaims> {
  const keyOf = keySet(api)
  return async (token) => {
    const { header, claims, signed, signature } = decodeToken(token)
    if (header.alg !== 'ES256' || header.typ !== 'entitlements+jwt') throw invalid('it is no entitlement token')
    const key = await keyOf(header.kid)
    if (!key) throw invalid(`the project has no key ${header.kid}`)
    if (!(await crypto.subtle.verify(ES256, key, signature, new TextEncoder().encode(signed)))) {
      throw invalid('its signature is wrong')
    }
    if (claims.iss !== issuer) throw invalid(`its issuer is ${claims.iss}, not ${issuer}`)
    if (claims.aud !== api.projectId) throw invalid('it is for another project')
    if (!(claims.exp > Date.now() / 1000)) throw invalid('it has expired')
    return claims
  }
}

/** The parts of a token, which nobody has verified. @throws PlatformError `invalid_token` */
export function decodeToken(token: string): Decoded {
  try {
    const [header = '', claims = '', signature = '', ...more] = token.split('.')
    if (more.length > 0) throw new Error('it has more than three parts')
    const json = (part: string) => JSON.parse(new TextDecoder().decode(bytesOf(part)))
    return { header: json(header), claims: json(claims), signed: `${header}.${claims}`, signature: bytesOf(signature) }
  } catch (cause) {
    throw invalid('it is no JWS', cause)
  }
}

/** The public keys of a project by their ids. They are fetched when needed: for an unknown id at most once a minute. */
function keySet(api: Api): (kid: string) => Promise<CryptoKey | undefined> {
  let keys = new Map<string, CryptoKey>()
  let fetchedAt = Number.NEGATIVE_INFINITY
  let failed: { at: number; error: unknown } | null = null
  let fetching: Promise<void> | null = null
  const refresh = async () => {
    try {
      keys = await fetchKeys(api)
      fetchedAt = Date.now()
      failed = null
    } catch (error) {
      failed = { at: Date.now(), error }
      throw error
    } finally {
      fetching = null
    }
  }
  return async (kid) => {
    const age = Date.now() - fetchedAt
    if (age < (keys.has(kid) ? KEYS_MS : UNKNOWN_KEY_MS)) return keys.get(kid)
    if (failed && Date.now() - failed.at < AFTER_FAILURE_MS) throw failed.error
    fetching ??= refresh()
    await fetching
    return keys.get(kid)
  }
}

async function fetchKeys(api: Api): Promise<Map<string, CryptoKey>> {
  const project = api.projectId
  if (project === undefined) throw new TypeError('The client needs a projectId.')
  // Without headers of its own, so that a browser needs no permission to ask.
  const headers = { Authorization: null, 'X-Project-Id': null }
  const { keys } = await unwrap(api.GET('/p/{project}/jwks.json', { params: { path: { project } }, headers }))
  const usable = (keys as (JsonWebKey & { kid: string })[]).filter(({ kty, crv }) => kty === 'EC' && crv === 'P-256')
  const imported = usable.map(async (jwk) => {
    return [jwk.kid, await crypto.subtle.importKey('jwk', jwk, ES256, false, ['verify'])] as const
  })
  return new Map(await Promise.all(imported))
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const base64 = base64url.replaceAll('-', '+').replaceAll('_', '/')
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

function invalid(detail: string, cause?: unknown): PlatformError {
  return new PlatformError('invalid_token', `The token is not valid: ${detail}.`, { cause })
}
