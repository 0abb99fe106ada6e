import { PlatformError } from './errors.js'
import type { Change, ChangeType } from './schema.js'

/** A change, as it is sent. With `include_object`, `current` is the object as it was when it was sent; null if it was gone. */
export type SentChange = Change & { current?: { revision: number | null; object: Record<string, unknown> } | null }

/** What a request to your server carries. `type` says what `data` is. */
export type Webhook = {
  /** `webhook-id`: the same in each attempt, so that you can handle a change once. */
  id: string
  timestamp: string
} & (
  | { type: ChangeType; data: SentChange }
  /** The feed no longer has the changes between these two ids: read the lists again. */
  | { type: 'feed.gap'; data: { after: string; until: string } }
  /** A test that somebody has sent. `endpoint` is its id. */
  | { type: 'webhook_endpoint.test'; data: { endpoint: string } }
)

export type WebhookOptions = {
  /** How old a request may be, and how far ahead of this clock (seconds). 300 by default. */
  toleranceS?: number
}

type HeadersOf = Headers | Readonly<Record<string, string | string[] | undefined>>

/** More signatures than that are not looked at. */
const MOST_SIGNATURES = 20

/**
 * Verifies a request that was signed as Standard Webhooks say.
 *
 * @param body the body as it came, before any parsing
 * @param headers those of the request, as `Headers` or as Node.js has them
 * @param secrets each of the secrets that are valid now, `whsec_…`. One of them must have signed
 * @throws PlatformError `invalid_webhook`: answer 400, and do not use the body
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeadersOf,
  secrets: string | readonly string[],
  { toleranceS = 300 }: WebhookOptions = {},
): Promise<Webhook> {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(Date.now() / 1000 - seconds) <= toleranceS)) {
    throw invalid(`webhook-timestamp is more than ${toleranceS} s away from this clock`)
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const keys = await Promise.all((typeof secrets === 'string' ? [secrets] : secrets).map(keyOf))
  if (keys.length === 0) throw new TypeError('There is no secret to verify with.')
  const signatures = header(headers, 'webhook-signature').split(' ').slice(0, MOST_SIGNATURES)
  for (const signature of signatures.flatMap(v1)) {
    for (const key of keys) {
      // In constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return parsed(id, bytes)
    }
  }
  throw invalid('no signature in webhook-signature fits the body and a secret')
}

function header(headers: HeadersOf, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value === 'string' && value !== '') return value
  throw invalid(`${name} is missing, or there is more than one`)
}

/** A fetch of another maker has a class of its own. */
function isHeaders(headers: HeadersOf): headers is Headers {
  return typeof headers.get === 'function'
}

/** @throws TypeError if it is none: that is a mistake in the configuration, which no sender can make */
async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = decode(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0) throw new TypeError('A secret is whsec_ and base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** The bytes of a signature `v1,…`; none for another version. */
function v1(signature: string): Uint8Array<ArrayBuffer>[] {
  const bytes = signature.startsWith('v1,') ? decode(signature.slice('v1,'.length)) : null
  return bytes ? [bytes] : []
}

/** Null if the text is no base64. */
function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function parsed(id: string, bytes: Uint8Array): Webhook {
  try {
    const { type, timestamp, data } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return { id, type, timestamp, data }
  } catch (cause) {
    throw invalid('the body is not JSON', cause)
  }
}

function invalid(detail: string, cause?: unknown): PlatformError {
  return new PlatformError('invalid_webhook', detail, { cause })
}
