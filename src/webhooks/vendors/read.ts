import { equalBytes } from '../../lib/crypto'
import { MAX_REFS, type SignatureCause, TOLERANCE_MS, Undecodable, type Verification } from './vendor'

/** A JSON object of a vendor's: nothing about its fields is taken on trust. */
export type Json = { readonly [key: string]: unknown }

/** The payload as a JSON object. @throws {Undecodable} */
export function parseObject(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Undecodable('the payload is not JSON')
  }
  if (!isObject(value)) throw new Undecodable('the payload is not a JSON object')
  return value
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of keys; undefined where the path ends early. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined
    here = (here as Record<string | number, unknown>)[key]
  }
  return here
}

/** A non-empty text, else null. */
export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** A text that has to be there. @throws {Undecodable} naming the field */
export function required(value: unknown, field: string): string {
  const found = text(value)
  if (found === null) throw new Undecodable(`the payload has no ${field}`)
  return found
}

/** The id of what a field refers to: vendors send it bare or expanded to an object with an `id`. */
export function idOf(value: unknown): string | null {
  return text(value) ?? text(at(value, 'id'))
}

/** Distinct ids, in order, at most {@link MAX_REFS}. */
export function refsOf(...ids: (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))].slice(0, MAX_REFS)
}

/** Seconds since the epoch → ISO 8601 in whole seconds. */
export function isoSeconds(value: unknown): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || Math.abs(value) > 8.64e12) return null
  return new Date(Math.floor(value) * 1000).toISOString().replace('.000Z', 'Z')
}

/** An amount in minor units (a safe integer, or one as a text) with its currency; null unless both are there. */
export function money(value: unknown, currency: unknown): { value: number; currency: string } | null {
  const amount = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  const unit = text(currency)
  return typeof amount === 'number' && Number.isSafeInteger(amount) && unit
    ? { value: amount, currency: unit.toUpperCase() }
    : null
}

/**
 * Tries every live secret against every signature of a delivery, in constant time for each pair.
 *
 * @param expected the MAC that a secret makes
 * @returns the index of the first secret that matches, or -1
 */
export async function matchSecret(
  secrets: readonly string[],
  signatures: readonly Uint8Array[],
  expected: (secret: string) => Promise<Uint8Array>,
): Promise<number> {
  let found = -1
  for (const [index, secret] of secrets.entries()) {
    if (secret === '') continue // an empty secret signs for anybody: it fails closed
    const mac = await expected(secret)
    for (const signature of signatures) if (equalBytes(mac, signature) && found < 0) found = index
  }
  return found
}

export function refused(cause: SignatureCause, skewMs?: number): Verification {
  return skewMs === undefined ? { ok: false, cause } : { ok: false, cause, skew_ms: skewMs }
}

/** Accepts a match whose time lies inside the tolerance, both ways. `signedAt` in ms. */
export function withinTolerance(secret: number, signedAt: number, now: number): Verification {
  const skew = now - signedAt
  return Math.abs(skew) > TOLERANCE_MS ? refused('signature_timestamp', skew) : { ok: true, secret }
}
