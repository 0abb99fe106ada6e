import type { Runtime } from '../../env'
import { type Client, type Identified, SsoError } from './types'

export type Recorder = unknown

/** The address at the provider that a browser is sent to. @throws {SsoError} */
export async function authorizationUrl(
  _rt: Runtime,
  _client: Client,
  _login: { state: string; redirect_uri: string; login_hint: string | null },
): Promise<string> {
  throw new SsoError('provider_unreachable', 'The engine is not here yet.')
}

/** Who has come back from the provider. @throws {SsoError} */
export async function identify(
  _rt: Runtime,
  _client: Client,
  _login: { state: string; redirect_uri: string; callback: URL },
  _record?: Recorder,
): Promise<Identified> {
  throw new SsoError('provider_unreachable', 'The engine is not here yet.')
}

/** What the discovery document of an issuer is like. */
export async function discover(_rt: Runtime, _issuer: string): Promise<{ ok: boolean; detail: string | null }> {
  return { ok: false, detail: 'The engine is not here yet.' }
}
