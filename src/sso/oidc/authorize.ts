import * as oauth from 'oauth4webapi'
import { hmac, utf8 } from '../../lib/crypto'
import { metadataOf } from './metadata'
import type { Host, OidcClient, OidcRequest } from './oidc-client'

/**
 * The address at the provider that a browser is sent to (OpenID Connect Core 1.0, section 3.1.2.1, with PKCE, RFC 7636).
 *
 * @param login.state a random text of at least 256 bits that the sign-in is found by again
 * @throws {SsoError} `provider_unreachable`, `discovery_failed`
 */
export async function authorizationUrl(
  rt: Host,
  client: Pick<OidcClient, 'issuer' | 'client_id' | 'scopes'>,
  login: OidcRequest & { login_hint: string | null },
): Promise<string> {
  const { authorization_endpoint } = await metadataOf(rt, client.issuer)
  const { nonce, verifier } = await proofsOf(rt, login.state)
  const url = new URL(authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: login.redirect_uri,
    scope: [...new Set(['openid', ...client.scopes])].join(' '),
    state: login.state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  if (login.login_hint !== null) url.searchParams.set('login_hint', login.login_hint)
  return url.href
}

/** What proves that a response belongs to a sign-in that began here. */
type Proofs = { nonce: string; verifier: string }

/**
 * The nonce and the PKCE verifier of a sign-in: HMACs of its state. The state is stored as a hash and travels through the
 * browser, so neither the database nor the browser knows enough to make them.
 */
export async function proofsOf({ settings }: Pick<Host, 'settings'>, state: string): Promise<Proofs> {
  const derive = async (use: string) => {
    const bytes = await hmac('SHA-256', utf8(settings.codePepper), `${use}:${state}`)
    return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
  }
  return { nonce: await derive('sso-nonce'), verifier: await derive('sso-verifier') }
}
