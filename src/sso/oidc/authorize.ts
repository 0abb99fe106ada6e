import type { Runtime } from '../../env'
import type { Client } from './client'
import { SsoError } from './error'

export async function authorizationUrl(
  _rt: Runtime,
  _client: Client,
  _login: { state: string; redirect_uri: string; login_hint: string | null },
): Promise<string> {
  throw new SsoError('provider_unreachable')
}
