import type { Runtime } from '../../env'
import type { Client, Identified, Recorder } from './client'
import { SsoError } from './error'

export async function identify(
  _rt: Runtime,
  _client: Client,
  _login: { state: string; redirect_uri: string; callback: URL },
  _record?: Recorder,
): Promise<Identified> {
  throw new SsoError('provider_unreachable')
}
