import * as oauth from 'oauth4webapi'
import { proofsOf } from './authorize'
import { type Claims, cutTo, ownChecks, personOf } from './claims'
import { SsoError } from './error'
import { IDENTIFY_WITHIN, MAX_CLAIMED_NAME } from './limits'
import { metadataOf, outsideFetch, type ProviderMetadata } from './metadata'
import type { Host, Identified, OidcClient, OidcRequest, Recorder } from './oidc-client'
import { type Report, reportTo } from './report'
import { spellingsOf, tokensIn, withoutSecrets } from './secrets'

type Callback = OidcRequest & { callback: URL }

/** What the steps of one sign-in share. `own` is the client as the library wants it. */
type Run = {
  rt: Host
  client: OidcClient
  login: Callback
  report: Report
  /** What no message may repeat. It grows. */
  secrets: string[]
  provider: ProviderMetadata
  own: oauth.Client
  options: ReturnType<typeof outsideFetch>
}

/**
 * Finds out who has signed in: checks the provider's response, exchanges the code, and checks the ID token and UserInfo
 * (OpenID Connect Core 1.0, sections 3.1.2.7, 3.1.3 and 5.3; RFC 9207 for `iss`).
 *
 * @param login.state as it was sent. The caller has found the sign-in by it, and has used it up
 * @param login.callback the address with its query that the provider sent the browser to
 * @param record takes the steps, with each claim even if the first of them is wrong
 * @throws {SsoError}
 */
export async function identify(rt: Host, client: OidcClient, login: Callback, record?: Recorder): Promise<Identified> {
  const { nonce, verifier } = await proofsOf(rt, login.state)
  const code = login.callback.searchParams.getAll('code')
  const secrets = [login.state, nonce, verifier, ...code]
  const report = reportTo(record, secrets)
  const provider = await report.step('Discovery', 'discovery_failed', client.issuer, () =>
    metadataOf(rt, client.issuer),
  )
  secrets.push(...spellingsOf(client, provider))
  const own = { client_id: client.client_id }
  const run = {
    rt,
    client,
    login,
    report,
    secrets,
    provider,
    own,
    options: outsideFetch(rt, Date.now() + IDENTIFY_WITHIN),
  }

  const response = await exchangeCode(run, verifier)
  secrets.push(...(await tokensIn(response)))
  const { claims, accessToken } = await checkToken(run, response, nonce)
  const offered = provider.userinfo_endpoint ?? 'not offered'
  const userinfo = await report.step('UserInfo', 'userinfo_refused', offered, () =>
    fetchUserInfo(run, claims.sub, accessToken),
  )
  const person = personOf(client, claims, userinfo)
  report.person(client, person)
  const { issuer, end_session_endpoint = null } = provider
  return { issuer, subject: claims.sub, ...person, name: cutTo(MAX_CLAIMED_NAME, person.name), end_session_endpoint }
}

/** @returns the response of the token endpoint, which nobody has checked yet */
async function exchangeCode(run: Run, verifier: string): Promise<Response> {
  const { client, login, report, provider, own, options } = run
  const parameters = await report.step('Response', 'response_refused', 'the state and issuer of this sign-in', () => {
    if (login.callback.searchParams.has('response'))
      throw new SsoError('response_refused', 'It answered with a JWT (JARM), which is not supported.')
    return oauth.validateAuthResponse(provider, own, login.callback, login.state)
  })
  return report.step('Token endpoint', 'token_refused', String(provider.token_endpoint), async () => {
    const by = authenticationOf(client)
    const { redirect_uri: address } = login
    const response = await oauth.authorizationCodeGrantRequest(
      provider,
      own,
      by,
      parameters,
      address,
      verifier,
      options,
    )
    if (response.status >= 500) throw new SsoError('provider_unreachable', `It answered with ${response.status}.`)
    // It reads the provider's error, and throws it.
    if (response.status !== 200) await oauth.processAuthorizationCodeResponse(provider, own, response)
    return response
  })
}

function authenticationOf({ auth_method, client_secret }: OidcClient): oauth.ClientAuth {
  if (auth_method === 'none') return oauth.None()
  if (auth_method === 'client_secret_post') return oauth.ClientSecretPost(client_secret ?? '')
  return oauth.ClientSecretBasic(client_secret ?? '')
}

async function checkToken(run: Run, response: Response, nonce: string) {
  const { rt, client, report, provider, own, options } = run
  await report.token(response, { rt, client, provider, nonce })
  const tokens = await report.step('ID token', 'id_token_refused', 'every claim is valid', async () => {
    // With a nonce to compare, the library demands an ID token.
    const tokens = await oauth.processAuthorizationCodeResponse(provider, own, response, { expectedNonce: nonce })
    refuseByOwnChecks(run, oauth.getValidatedIdTokenClaims(tokens) as Claims)
    return tokens
  })
  // Without this call, the library takes the signature as given.
  await report.step('Signature', 'signature_refused', 'by one key of the provider', () =>
    oauth.validateApplicationLevelSignature(provider, response, options),
  )
  const claims = oauth.getValidatedIdTokenClaims(tokens) as Claims & { sub: string }
  return { claims, accessToken: tokens.access_token }
}

function refuseByOwnChecks({ rt, client, secrets }: Run, claims: Claims): void {
  const failed = ownChecks(rt, client, claims).find(({ ok }) => !ok)
  if (!failed) return
  const { claim, expected, got } = failed
  throw new SsoError('id_token_refused', `"${claim}" must be ${expected}. It is ${withoutSecrets(got, secrets)}.`)
}

/** The claims of UserInfo: none where the provider has no such endpoint. */
async function fetchUserInfo(run: Run, subject: string, accessToken: string): Promise<Claims> {
  const { provider, own, options } = run
  if (provider.userinfo_endpoint === undefined) return {}
  const response = await oauth.userInfoRequest(provider, own, accessToken, options)
  return oauth.processUserInfoResponse(provider, own, subject, response)
}
