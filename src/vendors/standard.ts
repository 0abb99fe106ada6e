import { concat, fromBase64, hmac } from '../lib/crypto'
import { before, flag, idOf, isObject, text } from './lib/json'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoSeconds, isoTime } from './lib/time'
import { firstSecret, isSeconds, matchedAt, matchSecret } from './lib/verify'
import { MAX_SIGNATURES } from './limits'
import type { SignatureVerification, Vendor, VendorDelivery } from './vendor'

type Bytes = Uint8Array<ArrayBuffer>

/** Both headers are part of the signed content. */
export const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp'] as const

/** What the names of the headers start with: `svix` for senders who use Svix, such as Clerk and Resend. */
type Prefix = 'webhook' | 'svix'
const PREFIXES = ['webhook', 'svix'] as const

/**
 * Standard Webhooks 1.0, for any vendor that follows it. `webhook-signature` lists `v1,<base64>` (HMAC-SHA256 of
 * `id.timestamp.body`, keyed by the base64 after `whsec_`) and `v1a,<base64>` (Ed25519 over the same, checked with the
 * public key after `whpk_`), separated by spaces.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 *
 * Svix, which the specification comes from, names the same headers `svix-signature`, `svix-id` and `svix-timestamp`.
 * https://docs.svix.com/receiving/verifying-payloads/how-manual
 */
export const standard: Vendor = {
  signatureHeaders: PREFIXES.map((prefix) => `${prefix}-signature`),
  keptHeaders: [...STANDARD_HEADERS, 'svix-id', 'svix-timestamp'],
  secretBegins: 'whsec_',
  checkSecret(secret) {
    if (/^whsk_/.test(secret)) return 'whsk_ is the sender’s private key: paste the public one, which starts with whpk_'
    const key = keyOf(secret, 'whsec_') ?? keyOf(secret, 'whpk_')
    if (key === null) return 'a Standard Webhooks secret is whsec_ or whpk_ followed by base64'
    if (secret.startsWith('whpk_')) return key.byteLength === 32 ? null : 'a whpk_ key is the base64 of 32 bytes'
    // The specification's bounds: a shorter key could be guessed.
    return key.byteLength >= 24 && key.byteLength <= 64 ? null : 'a whsec_ key is the base64 of 24 to 64 bytes'
  },

  async verify(delivery, secrets) {
    const signed = readSigned(delivery, PREFIXES)
    if ('ok' in signed) return signed
    const { content, v1, v1a, signedAt } = signed
    const secret = await firstSecret(secrets, async (secret) => {
      // A public key is public: it must never serve as the key of an HMAC.
      const key = keyOf(secret, 'whpk_')
      return key ? verifyEd25519(key, v1a, content) : (await matchSecret([secret], v1, macOf(content))) === 0
    })
    return matchedAt(secret, signedAt, delivery.now)
  },

  decode(body, headers) {
    const event = parseObject(body)
    const event_type = required(event.type, 'type')
    // The data may be "squashed as part of the top-level object".
    const data = isObject(event.data) ? event.data : event
    const id = text(data.id)
    const type = text(data.object) ?? (data === event ? null : text(data.type)) ?? before(event_type, '.')
    const customer = type === 'customer' ? id : (idOf(data.customer) ?? text(data.customer_id))
    const subscription = type === 'subscription' ? id : (idOf(data.subscription) ?? text(data.subscription_id))
    const invoice = type === 'invoice' ? id : (idOf(data.invoice) ?? text(data.invoice_id))
    return [
      eventOf({
        vendor_event_id: text(headers['webhook-id'] ?? headers['svix-id']),
        event_type,
        occurred_at: isoTime(event.timestamp) ?? attemptedAt(headers),
        livemode: flag(event.livemode) ?? flag(data.livemode),
        object: { type, id, status: text(data.status) },
        customer,
        subscription,
        invoice,
        // The specification does not define amounts, so their unit is not known.
        refs: distinctIds(id, customer, subscription, invoice),
        content: event,
      }),
    ]
  },
}

type Signed = { content: Bytes; v1: Bytes[]; v1a: Bytes[]; signedAt: number }

/** What a Standard Webhooks delivery signs, and its signatures; or why it does not have that form. */
export function readSigned(
  { headers, bytes }: VendorDelivery,
  prefixes: readonly Prefix[],
): Signed | (SignatureVerification & { ok: false }) {
  const header = oneOf(headers, prefixes, 'signature')[0]
  if (!header) return { ok: false, cause: 'signature_missing' }
  const [id, otherId = id] = oneOf(headers, prefixes, 'id')
  const [timestamp, otherTimestamp = timestamp] = oneOf(headers, prefixes, 'timestamp')
  // The id of the event is read from either name later: an unsigned one must not stand beside the signed one.
  if (otherId !== id || otherTimestamp !== timestamp) return { ok: false, cause: 'signature_malformed' }
  // With a full stop in the id, id and timestamp could be split in more than one way. The specification forbids it.
  if (!id || id.includes('.') || !isSeconds(timestamp)) return { ok: false, cause: 'signature_malformed' }
  const signatures = header.split(' ').map((part) => part.split(',', 2))
  const of = (version: string, length: number) =>
    signatures
      .map(([name, value = '']) => (name === version ? fromBase64(value) : null))
      .filter((signature) => signature?.byteLength === length) as Bytes[]
  const v1 = of('v1', 32)
  const v1a = of('v1a', 64)
  const count = v1.length + v1a.length
  if (count === 0 || count > MAX_SIGNATURES) return { ok: false, cause: 'signature_malformed' }
  return { content: concat([`${id}.${timestamp}.`, bytes]), v1, v1a, signedAt: Number(timestamp) * 1000 }
}

/** The values of a header under the names that it may have. */
function oneOf(headers: Headers, prefixes: readonly Prefix[], name: string): string[] {
  return prefixes.flatMap((prefix) => headers.get(`${prefix}-${name}`) ?? [])
}

/** The MAC of the content under a `whsec_` secret; none for other secrets. */
export function macOf(content: Bytes): (secret: string) => Promise<Bytes[]> {
  return async (secret) => {
    const key = keyOf(secret, 'whsec_')
    return key ? [await hmac('SHA-256', key, content)] : []
  }
}

/** When the delivery was attempted: used where the payload has no time of the event. */
export function attemptedAt(headers: Readonly<Record<string, string>>): string | null {
  const timestamp = headers['webhook-timestamp'] ?? headers['svix-timestamp']
  return isSeconds(timestamp) ? isoSeconds(Number(timestamp)) : null
}

/** The key after a prefix; null if the secret does not have this form. */
function keyOf(secret: string, prefix: string): Bytes | null {
  const key = secret.startsWith(prefix) ? fromBase64(secret.slice(prefix.length)) : null
  return key && key.byteLength > 0 ? key : null
}

async function verifyEd25519(publicKey: Bytes, signatures: Bytes[], content: Bytes): Promise<boolean> {
  if (publicKey.byteLength !== 32) return false
  const key = await crypto.subtle.importKey('raw', publicKey, { name: 'Ed25519' }, false, ['verify'])
  const verdicts = await Promise.all(
    signatures.map((it) => crypto.subtle.verify({ name: 'Ed25519' }, key, it, content)),
  )
  return verdicts.includes(true)
}
