/*
 * DER, the form of certificates: as much of it as they need. Input from strangers is read here, so each length is checked.
 */

type Bytes = Uint8Array<ArrayBuffer>

/** A value: its tag, its content, and all of its bytes. */
export type DerValue = { tag: number; content: Bytes; whole: Bytes }

/** The tags that certificates use. `EXTENSIONS`: the field [3]. */
export const DER = {
  BOOLEAN: 0x01,
  INTEGER: 0x02,
  BIT_STRING: 0x03,
  OCTET_STRING: 0x04,
  OID: 0x06,
  UTC_TIME: 0x17,
  GENERALIZED_TIME: 0x18,
  SEQUENCE: 0x30,
  SET: 0x31,
  VERSION: 0xa0,
  EXTENSIONS: 0xa3,
} as const

/** The values that these bytes consist of. @throws {RangeError} where they consist of anything else */
export function derValues(bytes: Bytes): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const value = valueAt(bytes, at)
    values.push(value)
    at += value.whole.length
  }
  return values
}

/** The values inside a value of this kind. @throws {RangeError} */
export function derInside(value: DerValue | undefined, tag: number = DER.SEQUENCE): DerValue[] {
  return derValues(derContent(value, tag))
}

/** The content of a value of this kind. @throws {RangeError} */
export function derContent(value: DerValue | undefined, tag: number): Bytes {
  if (value?.tag !== tag) throw new RangeError(`no value with the tag ${tag}`)
  return value.content
}

/** The content of a BIT STRING of whole bytes. @throws {RangeError} */
export function derBits(value: DerValue | undefined): Bytes {
  const bits = derContent(value, DER.BIT_STRING)
  if (bits[0] !== 0) throw new RangeError('a bit string with unused bits')
  return bits.subarray(1)
}

/** A time, in milliseconds since the epoch. @throws {RangeError} */
export function derTime(value: DerValue | undefined): number {
  const digits = new TextDecoder().decode(value?.content)
  // Two digits stand for a year from 1950 to 2049: RFC 5280, section 4.1.2.5.1.
  const century = value?.tag === DER.UTC_TIME ? (digits < '5' ? '20' : '19') : ''
  const isTime = value?.tag === DER.UTC_TIME || value?.tag === DER.GENERALIZED_TIME
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + digits)
  const [, year, month, day, hours, minutes, seconds] = match ?? []
  const ms = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
  if (!isTime || Number.isNaN(ms)) throw new RangeError('no time')
  return ms
}

function valueAt(bytes: Bytes, at: number): DerValue {
  const tag = bytes[at] ?? Number.NaN
  const first = bytes[at + 1] ?? Number.NaN
  let start = at + 2
  let length = first
  if (first >= 0x80) {
    const count = first - 0x80
    if (count < 1 || count > 3) throw new RangeError('no length that a certificate can have')
    length = 0
    for (const end = start + count; start < end; start++) length = length * 256 + (bytes[start] ?? Number.NaN)
  }
  // Not a number where the bytes have ended before.
  if (!(start + length <= bytes.length)) throw new RangeError('a value that is longer than its bytes')
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) }
}
