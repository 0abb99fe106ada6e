import { openRuntime } from '../../../src/env'
import { authorizationUrl } from '../../../src/sso/oidc/authorize'
import { identify } from '../../../src/sso/oidc/identify'
import type { Identified, OidcClient, SignInStep } from '../../../src/sso/oidc/oidc-client'
import { bound, browse, newHost, setHost } from '../../harness'
import type { Faults } from '../../outside/faulty'

export const CALLBACK = 'https://platform.test/sso/callback/sso_1'

/** The runtime of a request that begins now. */
export const runtime = () => openRuntime(bound, { waitUntil: () => {} })

export const clientOf = (host: string, changes: Partial<OidcClient> = {}): OidcClient => ({
  issuer: `https://${host}`,
  client_id: 'rp',
  client_secret: 's3cret',
  auth_method: 'client_secret_basic',
  scopes: ['openid', 'email', 'profile'],
  claims: { email: 'email', name: 'name' },
  needs_email: true,
  ...changes,
})

/** A provider of its own that makes these mistakes. @returns its host name */
export async function faultyHost(faults: Faults): Promise<string> {
  const host = newHost('faulty.dev')
  await setHost(host, faults)
  return host
}

/** Signs in from beginning to end. `steps` collects what is recorded. `back` changes the address that the browser comes back to. */
export async function signIn(
  client: OidcClient,
  { steps, back }: { steps?: SignInStep[]; back?: (url: URL) => void | Promise<void> } = {},
): Promise<Identified> {
  const state = crypto.randomUUID() + crypto.randomUUID()
  const login = { state, redirect_uri: CALLBACK }
  const url = await authorizationUrl(runtime(), client, { ...login, login_hint: null })
  const callback = await browse(url, 'platform.test')
  await back?.(callback)
  return identify(runtime(), client, { ...login, callback }, steps && ((step) => void steps.push(step)))
}
