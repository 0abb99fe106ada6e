import { concat, utf8 } from '../lib/crypto'

/** The bytes as text, byte order mark included; null if they are not UTF-8, or contain a NUL, which text would lose. */
export function asText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null // not UTF-8: kept as a BLOB
  }
}

/**
 * A stored payload as it is read: its text, or where it is not text its bytes as hexadecimal. D1 would return them as a
 * list of numbers, which takes ten times as much. In two parts, because D1 has no value of more than 2,000,000 bytes.
 */
export type Body = { text: string | null; hex: string | null; more_hex: string | null }

/** Whether the payload is there: it may be past its retention, or may not have been asked for. */
export function isKept({ text, hex }: Body): boolean {
  return text !== null || hex !== null
}

/** The bytes of a payload that is there. */
export function bytesOf({ text, hex, more_hex }: Body): Uint8Array<ArrayBuffer> {
  if (text !== null) return utf8(text)
  return concat([hex, more_hex].map((part) => Uint8Array.fromHex(part ?? '')))
}
