import { utf8 } from '../lib/crypto'

/** The bytes as text, byte order mark included; null where they are not UTF-8, or contain a NUL, which text would lose. */
export function asText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null // not UTF-8: kept as a BLOB
  }
}

/** The bytes of a stored payload. D1 returns TEXT as a string and a BLOB as an array of numbers. */
export function bytesOf(body: string | number[]): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? utf8(body) : Uint8Array.from(body)
}

/** A stored payload as base64. */
export function base64(body: string | number[]): string {
  return bytesOf(body).toBase64()
}
