import { equalBytes, fromHex, hmac, sha256Hex, utf8 } from '../../lib/crypto'
import { TOLERANCE_MS } from '../limits'
import type { SignatureCause, SignatureVerification } from '../vendor'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Tries every live secret, even after one has matched, so that the time taken does not reveal which one it was.
 *
 * @returns the index of the first secret that passes, or -1
 */
export async function firstSecret(
  secrets: readonly string[],
  passes: (secret: string) => Promise<boolean>,
): Promise<number> {
  let found = -1
  for (const [index, secret] of secrets.entries()) {
    if (secret === '') continue // anyone can sign with an empty secret, so it never passes
    if ((await passes(secret)) && found < 0) found = index
  }
  return found
}

/**
 * Compares every live secret with every signature of a delivery, each pair in constant time.
 *
 * @param expected the MACs that a secret produces: one; several where the vendor has used several ways; none if the
 *   secret does not have the vendor's form
 * @returns the index of the first secret that matches, or -1
 */
export function matchSecret(
  secrets: readonly string[],
  signatures: readonly Uint8Array[],
  expected: (secret: string) => Promise<Uint8Array | readonly Uint8Array[]>,
): Promise<number> {
  return firstSecret(secrets, async (secret) => {
    const made = await expected(secret)
    let found = false
    for (const mac of made instanceof Uint8Array ? [made] : made) {
      for (const signature of signatures) if (equalBytes(mac, signature)) found = true
    }
    return found
  })
}

/** Verifies a header that consists of the HMAC-SHA256 of the message; the key is the UTF-8 of the secret. */
export async function verifyBareMac(
  header: string | null,
  decode: (text: string) => Bytes | null,
  secrets: readonly string[],
  ...message: (string | Uint8Array)[]
): Promise<SignatureVerification> {
  if (!header) return refused('signature_missing')
  const signature = decode(header)
  if (signature?.byteLength !== 32) return refused('signature_malformed')
  return matched(await matchSecret(secrets, [signature], (key) => hmac('SHA-256', utf8(key), ...message)))
}

/** Verifies a header that contains the secret itself. Digests are compared, so that not even its length is revealed. */
export async function verifyShown(
  shown: string | Uint8Array,
  secrets: readonly string[],
): Promise<SignatureVerification> {
  const digest = async (value: string | Uint8Array) => utf8(await sha256Hex(value as string | Bytes))
  return matched(await matchSecret(secrets, [await digest(shown)], digest))
}

/** Bytes as UTF-8 text, with its byte order mark; null if they are not UTF-8. For signatures inside the body. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

export function refused(cause: SignatureCause, skewMs?: number): SignatureVerification {
  return skewMs === undefined ? { ok: false, cause } : { ok: false, cause, skew_ms: skewMs }
}

/** The result of a search for a secret, where the vendor does not sign a time. */
export function matched(secret: number): SignatureVerification {
  return secret < 0 ? refused('signature_mismatch') : { ok: true, secret }
}

/** As {@link matched}; the signature's time must also be within the tolerance, in the past and in the future. All in milliseconds. */
export function matchedAt(
  secret: number,
  signedAt: number,
  now: number,
  tolerance = TOLERANCE_MS,
): SignatureVerification {
  if (secret < 0) return refused('signature_mismatch')
  const skew = now - signedAt
  return Math.abs(skew) > tolerance ? refused('signature_timestamp', skew) : { ok: true, secret }
}

/**
 * Reads a header `t=<seconds>,v1=<hex>[,v1=<hex>…]` with signatures of HMAC-SHA256.
 *
 * @returns null if it has no signature, or not exactly one time
 */
export function parseTimed(header: string): { timestamp: string; signatures: Uint8Array[] } | null {
  let timestamp: string | null = null
  const signatures: Uint8Array[] = []
  for (const part of header.split(',')) {
    const [key, value = ''] = part.split('=', 2)
    if (key === 't') {
      if (timestamp !== null || !isSeconds(value)) return null
      timestamp = value
    }
    const bytes = key === 'v1' ? fromHex(value) : null
    if (bytes && bytes.byteLength === 32) signatures.push(bytes)
  }
  return timestamp === null || signatures.length === 0 ? null : { timestamp, signatures }
}

/** Whether a string can be the time of a signature: whole seconds, in digits. */
export function isSeconds(value: string | null | undefined): value is string {
  return typeof value === 'string' && /^\d{1,12}$/.test(value)
}

/** Checks a secret whose vendor has no format for it: at least eight characters, all of them visible. */
export function checkPlain(what: string): (secret: string) => string | null {
  return (secret) => (/^[\x21-\x7e]{8,}$/.test(secret) ? null : `${what} has 8 or more characters and no spaces`)
}
