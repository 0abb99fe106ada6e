import { must } from '../../scripts/lib/api.ts'
import { URL_OF_CONSOLE } from './browser.ts'

/** A connection of the vendor `hmac`, with a verification. @returns its id */
export async function hmacConnection(of: { token: string; project: string }, signing_secret: string): Promise<string> {
  const at = `${URL_OF_CONSOLE}/platform/v1/billing/connections`
  const json = { vendor: 'hmac', name: 'An HMAC sender', livemode: false, signing_secret }
  const { id } = await must<{ id: string }>(at, { ...of, json })
  await must(`${at}/${id}/verification`, { method: 'PUT', ...of, json: { preset: 'slack' } })
  return id
}
