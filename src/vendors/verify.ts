import { equalBytes, hmac, sha256Hex, utf8 } from '../lib/crypto'
import { type SignatureCause, TOLERANCE_MS, type Verification } from './vendor'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Tries every live secret, also after one has matched, so that the time taken does not tell which one it was.
 *
 * @returns the index of the first secret that passes, or -1
 */
export async function firstSecret(
  secrets: readonly string[],
  passes: (secret: string) => Promise<boolean>,
): Promise<number> {
  let found = -1
  for (const [index, secret] of secrets.entries()) {
    if (secret === '') continue // an empty secret signs for anybody: it fails closed
    if ((await passes(secret)) && found < 0) found = index
  }
  return found
}

/**
 * Tries every live secret against every signature of a delivery, in constant time for each pair.
 *
 * @param expected the MACs that a secret makes: one, several where a vendor has had more than one way, or none where
 *   the secret is not of the vendor's form
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

/** A header that is nothing but the HMAC-SHA256 of the message, keyed by the secret's UTF-8. */
export async function verifyBareMac(
  header: string | null,
  decode: (text: string) => Bytes | null,
  secrets: readonly string[],
  ...message: (string | Uint8Array)[]
): Promise<Verification> {
  if (!header) return refused('signature_missing')
  const signature = decode(header)
  if (signature?.byteLength !== 32) return refused('signature_malformed')
  return matched(await matchSecret(secrets, [signature], (key) => hmac('SHA-256', utf8(key), ...message)))
}

/** A header that shows the secret itself. Digests are compared, so that not even its length is told. */
export async function verifyShown(shown: string | Uint8Array, secrets: readonly string[]): Promise<Verification> {
  const digest = async (value: string | Uint8Array) => utf8(await sha256Hex(value as string | Bytes))
  return matched(await matchSecret(secrets, [await digest(shown)], digest))
}

/** Bytes as UTF-8 text, a byte order mark included; null where they are not. For what is signed inside the body. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

export function refused(cause: SignatureCause, skewMs?: number): Verification {
  return skewMs === undefined ? { ok: false, cause } : { ok: false, cause, skew_ms: skewMs }
}

/** The verdict of a search for a secret, where the vendor signs no time. */
export function matched(secret: number): Verification {
  return secret < 0 ? refused('signature_mismatch') : { ok: true, secret }
}

/** As {@link matched}, and the signature's time has to lie inside the tolerance, both ways. `signedAt` in ms. */
export function matchedAt(secret: number, signedAt: number, now: number): Verification {
  if (secret < 0) return refused('signature_mismatch')
  const skew = now - signedAt
  return Math.abs(skew) > TOLERANCE_MS ? refused('signature_timestamp', skew) : { ok: true, secret }
}

/** The time of a signature, in whole seconds as digits: anything else is not of any vendor's form. */
export function isSeconds(value: string | null | undefined): value is string {
  return typeof value === 'string' && /^\d{1,12}$/.test(value)
}

/** What is wrong with a secret that has no form of its own: nothing but visible characters, at least eight. */
export function checkPlain(what: string): (secret: string) => string | null {
  return (secret) => (/^[\x21-\x7e]{8,}$/.test(secret) ? null : `${what} is 8 or more characters, none of them a space`)
}
