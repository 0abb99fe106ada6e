const encoder = new TextEncoder()

/** A string as UTF-8 bytes. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text) as Uint8Array<ArrayBuffer>
}

/** Bytes as lower-case hex. */
export function hex(bytes: ArrayBuffer | Uint8Array): string {
  const view = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
  return view.toHex()
}

/** `bytes` random bytes as lower-case hex, from the runtime's CSPRNG. */
export function randomHex(bytes: number): string {
  return hex(crypto.getRandomValues(new Uint8Array(bytes)))
}

/** SHA-256 (Web Crypto) as lower-case hex: 64 characters. */
export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  return hex(await crypto.subtle.digest('SHA-256', typeof data === 'string' ? utf8(data) : data))
}

/** The HMAC (Web Crypto) of the concatenated parts. */
export async function hmac(
  hash: 'SHA-256' | 'SHA-512' | 'SHA-1',
  key: Uint8Array<ArrayBuffer>,
  ...parts: (string | Uint8Array)[]
): Promise<Uint8Array<ArrayBuffer>> {
  const cryptoKey = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', cryptoKey, concat(parts)))
}

/** Whether two byte strings are equal, in a time that depends only on their lengths. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && crypto.subtle.timingSafeEqual(a, b)
}

/** Hex → bytes; null if the string is not hex. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return null
  return Uint8Array.fromHex(text) as Uint8Array<ArrayBuffer>
}

/** Base64 → bytes; null if the string is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' }) as Uint8Array<ArrayBuffer>
  } catch {
    return null // Not base64: the caller decides what that means.
  }
}

/** Bytes, or a string as UTF-8, as base64url without padding (RFC 7515 §2). */
export function base64url(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? utf8(data) : data
  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
}

/** The concatenated parts; strings as UTF-8. */
export function concat(parts: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const chunks = parts.map((part) => (typeof part === 'string' ? utf8(part) : part))
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0))
  let offset = 0
  for (const chunk of chunks) {
    out.set(chunk, offset)
    offset += chunk.byteLength
  }
  return out
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

/** CRC-32 (IEEE 802.3, as in zlib), from 0 to 2³²−1. It finds mistakes, and stops nobody who makes another text with the same one. */
export function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff
  for (const byte of bytes) c = (CRC_TABLE[(c ^ byte) & 0xff] as number) ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

/** {@link crc32} of a string's UTF-8 bytes, as 8 lower-case hex characters. */
export function crc32Hex(text: string): string {
  return crc32(utf8(text)).toString(16).padStart(8, '0')
}
