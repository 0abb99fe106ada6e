import { createHash, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { type Handler, type Host, noteTokens } from './hosts.ts'
import { type Plain, plainResponse } from './plain.ts'

/** What a provider gets wrong. Without any of it, it is a good one with the client `rp` and the secret `s3cret`. */
export type Faults = {
  /** Responses in place of its own, by path. */
  pages?: Record<string, Plain>
  /** Members of its discovery document; null leaves one out. */
  discovery?: Record<string, unknown>
  /** Parameters of the authorization response; null leaves one out. */
  response?: Record<string, string | null>
  /** Claims of the ID token; null leaves one out. `iat` and `exp` are in seconds from now. */
  claims?: Record<string, unknown>
  /** Members of the token response; null leaves one out. */
  tokens?: Record<string, unknown>
  userinfo?: Record<string, unknown>
  /** The header of the ID token. */
  alg?: 'RS256' | 'PS256' | 'ES256' | 'EdDSA' | 'HS256' | 'none'
  kid?: string | null
  /** Paths that refuse, and repeat in the error all that they were sent and all that was issued before. */
  echo?: string[]
  /** The key that signs; by default, one that it publishes. */
  signed_by?: 'another key'
  /** Whether the header of the ID token brings the key that signs. */
  brings_key?: boolean
  /** The kids that it publishes, all of one key. */
  kids?: string[]
  /** The media type of its keys. */
  keys_type?: string
  /** Its clock (ms since the epoch). */
  now?: number
}

const CLIENT = { id: 'rp', secret: 's3cret' }
const codes = new Map<string, URLSearchParams>()

/** `*.faulty.dev`: an OpenID provider that does wrong what a test tells it to. It asks nobody anything. */
export const faulty: Handler = async (request, host) => {
  const faults = host.settings as Faults
  const url = new URL(request.url)
  const page = faults.pages?.[url.pathname]
  if (page) return plainResponse(page)
  if (faults.echo?.includes(url.pathname)) return echo(request, host)
  switch (url.pathname) {
    case '/.well-known/openid-configuration':
      return Response.json(changed(documentOf(host), faults.discovery))
    case '/authorize':
      return authorize(host, url.searchParams)
    case '/token':
      return exchange(host, request)
    case '/jwks':
      return Response.json(
        { keys: await publicKeys(faults) },
        { headers: { 'Content-Type': faults.keys_type ?? 'application/json' } },
      )
    case '/userinfo':
      return Response.json(changed({ sub: 'u1', email: 'ada@acme.dev', email_verified: true }, faults.userinfo))
    default:
      return new Response(null, { status: 404 })
  }
}

function documentOf({ name, settings }: Host): Record<string, unknown> {
  const issuer = `https://${name}`
  const { alg = 'RS256' } = settings as Faults
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [alg],
    authorization_response_iss_parameter_supported: true,
  }
}

function authorize(host: Host, asked: URLSearchParams): Response {
  const code = randomUUID()
  codes.set(code, asked)
  host.issued.push(code)
  const location = new URL(asked.get('redirect_uri') ?? '')
  const { response } = host.settings as Faults
  const given = changed({ code, state: asked.get('state'), iss: `https://${host.name}` }, response)
  for (const [name, value] of Object.entries(given)) location.searchParams.set(name, String(value))
  return new Response(null, { status: 302, headers: { Location: location.href } })
}

/** An error with everything in its description that should be in no error. */
async function echo(request: Request, host: Host): Promise<Response> {
  const url = new URL(request.url)
  const sent = [request.headers.get('Authorization'), await request.text(), ...host.issued]
  if (url.pathname === '/authorize') {
    const location = new URL(url.searchParams.get('redirect_uri') ?? '')
    location.searchParams.set('state', url.searchParams.get('state') ?? '')
    location.searchParams.set('error_description', url.search)
    location.searchParams.set('error', 'access_denied')
    location.searchParams.set('iss', `https://${host.name}`)
    return new Response(null, { status: 302, headers: { Location: location.href } })
  }
  const error_description = sent.join(' ').replaceAll('"', "'")
  if (url.pathname === '/token') return Response.json({ error: 'invalid_grant', error_description }, { status: 400 })
  const challenge = `Bearer error="invalid_token", error_description="${error_description}"`
  return new Response(null, { status: 401, headers: { 'WWW-Authenticate': challenge } })
}

async function exchange(host: Host, request: Request): Promise<Response> {
  const body = new URLSearchParams(await request.text())
  const asked = codes.get(body.get('code') ?? '')
  codes.delete(body.get('code') ?? '')
  const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`
  const known = request.headers.get('Authorization') === basic || body.get('client_secret') === CLIENT.secret
  if (!known && asked?.get('client_id') !== 'public') return Response.json({ error: 'invalid_client' }, { status: 401 })
  const challenge = createHash('sha256')
    .update(body.get('code_verifier') ?? '')
    .digest('base64url')
  if (!asked || asked.get('code_challenge') !== challenge || asked.get('redirect_uri') !== body.get('redirect_uri'))
    return Response.json({ error: 'invalid_grant' }, { status: 400 })
  const faults = host.settings as Faults
  const id_token = await idToken(host, asked)
  const tokens = { access_token: randomUUID(), refresh_token: randomUUID(), id_token }
  const given = JSON.stringify(changed({ ...tokens, token_type: 'Bearer', expires_in: 60 }, faults.tokens))
  noteTokens(host, given)
  // As PHP writes JSON.
  return new Response(given.replaceAll('/', '\\/'), { headers: { 'Content-Type': 'application/json' } })
}

async function idToken({ name, settings }: Host, asked: URLSearchParams): Promise<string> {
  const { claims = {}, alg = 'RS256', kid = 'k1', signed_by, brings_key, now = Date.now() } = settings as Faults
  const seconds = Math.floor(now / 1000)
  const own = { iss: `https://${name}`, aud: asked.get('client_id'), sub: 'u1', nonce: asked.get('nonce') }
  const person = { email: 'ada@acme.dev', email_verified: true, name: 'Ada' }
  const { iat = 0, exp = 300, ...rest } = claims as { iat?: unknown; exp?: unknown }
  const time = (value: unknown) => (typeof value === 'number' ? seconds + value : value)
  const payload = changed(
    { ...own, ...person, iat: time(0), exp: time(300) },
    { ...rest, iat: time(iat), exp: time(exp) },
  )
  if (alg === 'none') return `${part({ alg })}.${part(payload)}.`
  const header = { alg, ...(kid !== null && { kid }) }
  if (alg === 'HS256')
    return new SignJWT(payload).setProtectedHeader(header).sign(new TextEncoder().encode(CLIENT.secret))
  const { privateKey, publicKey } = await keyPair(alg, signed_by ?? 'own')
  const brought = brings_key ? { jwk: await exportJWK(publicKey), jku: `https://${name}/own-keys` } : {}
  return new SignJWT(payload).setProtectedHeader({ ...header, ...brought }).sign(privateKey)
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function publicKeys({ alg = 'RS256', kids = ['k1'] }: Faults): Promise<JWK[]> {
  const published = alg === 'none' || alg === 'HS256' ? 'RS256' : alg
  const { publicKey } = await keyPair(published, 'own')
  const jwk = await exportJWK(publicKey)
  return kids.map((kid) => ({ ...jwk, kid, alg: published, use: 'sig' }))
}

const pairs = new Map<string, ReturnType<typeof generateKeyPair>>()

function keyPair(alg: string, which: string): ReturnType<typeof generateKeyPair> {
  const name = `${alg} ${which}`
  const pair = pairs.get(name) ?? generateKeyPair(alg)
  pairs.set(name, pair)
  return pair
}

/** An object with some members changed; null removes one. */
function changed<T extends Record<string, unknown>>(object: T, changes: Record<string, unknown> = {}) {
  return Object.fromEntries(Object.entries({ ...object, ...changes }).filter(([, value]) => value !== null))
}
