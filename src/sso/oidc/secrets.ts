import * as oauth from 'oauth4webapi'
import { MAX_QUOTED } from './limits'
import type { OidcClient } from './oidc-client'

/** The client secret as it can stand in a request: as it is, and as HTTP Basic has it, which anybody can read. */
export function spellingsOf({ client_id, client_secret }: OidcClient, provider: oauth.AuthorizationServer): string[] {
  if (client_secret === null) return []
  const headers = new Headers()
  oauth.ClientSecretBasic(client_secret)(provider, { client_id }, new URLSearchParams(), headers)
  const [, basic = ''] = (headers.get('Authorization') ?? '').split(' ')
  return [client_secret, basic]
}

/** The tokens in a response of a token endpoint, as they are and as its JSON writes them. The response can still be read. */
export async function tokensIn(response: Response): Promise<string[]> {
  const tokens = /"(?:access|id|refresh)_token"\s*:\s*("((?:[^"\\]|\\.)+)")/g
  const found = [...(await response.clone().text()).matchAll(tokens)]
  return found.flatMap(([, json = '', written = '']) => [written, plain(json)])
}

function plain(json: string): string {
  try {
    return String(JSON.parse(json))
  } catch {
    return '' // It is not JSON, and nobody gets a token out of it.
  }
}

/** A provider's words without the secrets of the sign-in and without control characters, cut to their limit. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const spelled = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encoded(secret), escaped(secret)])
  const clean = spelled.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
  return clean.replaceAll(/\p{C}+/gu, ' ').slice(0, MAX_QUOTED)
}

/** As JSON has it. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** As a form has it. */
function encoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
