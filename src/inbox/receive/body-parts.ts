import { type Column, type SQL, sql } from 'drizzle-orm'
import { utf8 } from '../../lib/crypto'
import { MAX_BODY_PART } from './limits'

/** A part of a body as it is bound: text as it is, other bytes as hexadecimal, which SQLite turns into a BLOB. */
export type Part = { type: 'text' | 'blob'; value: string; from: number }

/** A body in parts that a statement can bind. @returns the parts, each with the byte at which it begins */
export function partsOf(body: string | Uint8Array): [Part, ...Part[]] {
  if (typeof body === 'string') return textParts(body)
  const parts: Part[] = []
  for (let from = 0; from < body.byteLength || from === 0; from += MAX_BODY_PART / 2) {
    const hex = body.subarray(from, from + MAX_BODY_PART / 2).toHex()
    parts.push({ type: 'blob', value: hex, from })
  }
  return parts as [Part, ...Part[]]
}

/** Parts of a text, cut between characters. */
function textParts(text: string): [Part, ...Part[]] {
  const part = (value: string, from: number): Part => ({ type: 'text', value, from })
  if (text.length <= MAX_BODY_PART / 3) return [part(text, 0)] // a UTF-16 unit is at most three bytes
  const bytes = utf8(text)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const parts: Part[] = []
  for (let from = 0; from < bytes.byteLength; ) {
    let end = Math.min(from + MAX_BODY_PART, bytes.byteLength)
    while (isWithinCharacter(bytes[end])) end -= 1
    parts.push(part(decoder.decode(bytes.subarray(from, end)), from))
    from = end
  }
  return parts as [Part, ...Part[]]
}

/** Whether a byte of UTF-8 continues a character that began before it. */
function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}

/** The stored part of a body, with a further part appended. */
export function withPart(stored: Column, { type, value }: Part): SQL {
  return type === 'text' ? sql`${stored} || ${value}` : sql`CAST(${stored} || unhex(${value}) AS BLOB)`
}
