import { hmac } from '../lib/crypto'
import { SECOND } from '../lib/time'
import { SECRET_BYTES } from './limits'

/** What a secret begins with, as Standard Webhooks say. The rest is base64. */
export const SECRET_PREFIX = 'whsec_'

export function newEndpointSecret(): string {
  return SECRET_PREFIX + crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()
}

/**
 * The headers of https://www.standardwebhooks.com/: a signature for each secret, so that a receiver may know any of them.
 *
 * @param id the same for each attempt
 * @param now milliseconds
 */
export async function signedHeaders(secrets: readonly string[], id: string, body: string | Uint8Array, now: number) {
  const at = String(Math.floor(now / SECOND))
  const signatures = secrets.map(async (secret) => {
    const key = Uint8Array.fromBase64(secret.slice(SECRET_PREFIX.length))
    return `v1,${(await hmac('SHA-256', key, `${id}.${at}.`, body)).toBase64()}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  }
}
