/** Bytes of each of the two numbers of a signature on P-256. */
const P256_BYTES = 32

/**
 * An ECDSA signature in DER (RFC 3279 §2.2.3), as r and s of 32 bytes each, which Web Crypto takes. DER leaves leading zeros out, so a
 * number can be shorter, and puts one before a number that would look negative.
 *
 * @returns null if it is not one, or has more than that
 */
export function rawSignature(der: Uint8Array): Uint8Array<ArrayBuffer> | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null
  const raw = new Uint8Array(2 * P256_BYTES)
  let at = 2
  for (const end of [P256_BYTES, 2 * P256_BYTES]) {
    const length = der[at + 1] ?? 0
    const digits = der.subarray(at + 2, at + 2 + length)
    if (der[at] !== 0x02 || length === 0 || digits.length !== length) return null
    const number = length > 1 && digits[0] === 0 ? digits.subarray(1) : digits
    if (number.length > P256_BYTES) return null
    raw.set(number, end - number.length)
    at += 2 + length
  }
  return at === der.length ? raw : null
}
