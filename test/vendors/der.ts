import { concat, utf8 } from '../../src/lib/crypto'

/* DER, as certificates of tests are written in it. */

type Bytes = Uint8Array<ArrayBuffer>

/** A value of DER. */
export function der(tag: number, ...content: Uint8Array[]): Bytes {
  const inside = concat(content)
  const { length } = inside
  const long = length > 255 ? [0x82, length >> 8, length & 255] : [0x81, length]
  return concat([Uint8Array.of(tag, ...(length < 128 ? [length] : long)), inside])
}

/** A number that is not negative, without zeros that say nothing. */
export function shortest(digits: Uint8Array): Uint8Array {
  const first = digits.findIndex((byte) => byte !== 0)
  const kept = digits.subarray(first < 0 ? digits.length - 1 : first)
  return (kept[0] ?? 0) >= 128 ? concat([Uint8Array.of(0), kept]) : kept
}

export function oid(dotted: string): Bytes {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const sevenBits = (value: number): number[] => (value < 128 ? [value] : [...sevenBits(value >> 7), value & 127])
  const bytes = [40 * first + second, ...rest].flatMap((value) =>
    sevenBits(value).map((bits, i, all) => (i < all.length - 1 ? bits | 128 : bits)),
  )
  return der(0x06, Uint8Array.from(bytes))
}

/** A name that consists of a common name. */
export const name = (common: string) => der(0x30, der(0x31, der(0x30, oid('2.5.4.3'), der(0x0c, utf8(common)))))
/** Until 2049 in two digits of the year, and in four afterwards. */
export const time = (at: Date) => {
  const digits = at.toISOString().replaceAll(/[-T:]|\.\d+/g, '')
  return at.getUTCFullYear() < 2050 ? der(0x17, utf8(digits.slice(2))) : der(0x18, utf8(digits))
}
export const extension = (id: string, content: Bytes, ...critical: Bytes[]) =>
  der(0x30, oid(id), ...critical, der(0x04, content))
