import { BoundedMap } from './bounded-map'

/* Blocks of IP addresses in CIDR notation (RFC 4632, RFC 4291). An IPv4 address inside an IPv6 one (`::ffff:192.0.2.1`) is IPv4. */

/** An address as a number of so many bits, or a block: the leading bits that its addresses share. */
type Address = { bits: 32 | 128; value: bigint }
type Block = Address & { prefix: number }

const V4 = /^(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}$/
const MAPPED = 0xffffn

/**
 * A block in its canonical form: without the bits after the prefix, IPv6 as in RFC 5952. An address alone is a block of one.
 *
 * @returns null if the text is neither
 */
export function canonicalNetwork(text: string): string | null {
  const block = blockOf(text)
  return block && `${textOf(block)}/${block.prefix}`
}

/** The block with so many bits that an address is in, such as the /24 of an IPv4 one; null if the text is no address. */
export function networkAround(address: string, { v4, v6 }: { v4: number; v6: number }): string | null {
  const parsed = addressIn(address)
  return parsed && canonicalNetwork(`${textOf(parsed)}/${parsed.bits === 32 ? v4 : v6}`)
}

/** Whether an address is in one of the blocks. What is not an address is in none. */
export function isInNetworks(address: string | null, networks: readonly string[]): boolean {
  const parsed = address === null ? null : addressIn(address)
  return parsed !== null && isCovered({ ...parsed, prefix: parsed.bits }, networks)
}

/** Whether every address of some blocks is in one of the others. Null stands for all addresses. */
export function isWithinNetworks(inner: readonly string[] | null, outer: readonly string[] | null): boolean {
  if (outer === null) return true
  return inner?.every((one) => isCovered(blockOf(one), outer)) ?? false
}

function isCovered(inner: Block | null, networks: readonly string[]): boolean {
  if (inner === null) return false
  return networks.some((text) => {
    const outer = blockOf(text)
    if (outer === null || outer.bits !== inner.bits || outer.prefix > inner.prefix) return false
    const shift = BigInt(outer.bits - outer.prefix)
    return outer.value >> shift === inner.value >> shift
  })
}

/** The same blocks are asked for with each request, and reading twenty of them takes 0.2 ms. */
const known = new BoundedMap<string, Block>(2_000)

function blockOf(text: string): Block | null {
  const block = known.get(text) ?? readBlock(text)
  if (block && !known.has(text)) known.set(text, block)
  return block
}

function readBlock(text: string): Block | null {
  const [written = '', length, ...more] = text.split('/')
  const address = parsed(written)
  if (address === null || more.length > 0 || (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length))) return null
  const prefix = length === undefined ? address.bits : Number(length)
  if (prefix > address.bits) return null
  const isMapped = address.bits === 128 && address.value >> 32n === MAPPED && prefix >= 96
  const { bits, value } = isMapped ? v4In(address) : address
  const left = isMapped ? prefix - 96 : prefix
  const rest = BigInt(bits - left)
  return { bits, value: (value >> rest) << rest, prefix: left }
}

function addressIn(text: string): Address | null {
  const address = parsed(text)
  return address?.bits === 128 && address.value >> 32n === MAPPED ? v4In(address) : address
}

const v4In = ({ value }: Address): Address => ({ bits: 32, value: value & 0xffff_ffffn })

function parsed(text: string): Address | null {
  if (!text.includes(':')) {
    const value = v4Value(text)
    return value === null ? null : { bits: 32, value }
  }
  const groups = groupsOf(text)
  return groups && { bits: 128, value: groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n) }
}

function v4Value(text: string): bigint | null {
  if (!V4.test(text)) return null
  const bytes = text.split('.').map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) : null
}

/** The eight groups of an IPv6 address, which may end with an IPv4 one; null if it is not well-formed. */
function groupsOf(text: string): number[] | null {
  const halves = text.split('::')
  if (halves.length > 2) return null
  const parts = halves.map((half, at) =>
    half === '' ? [] : half.split(':').flatMap(hexGroups(at === halves.length - 1)),
  )
  const [head = [], tail] = parts
  const missing = 8 - head.length - (tail?.length ?? 0)
  const groups = tail === undefined ? head : [...head, ...Array<number>(Math.max(missing, 0)).fill(0), ...tail]
  const isWhole = tail === undefined ? missing === 0 : missing >= 1
  return isWhole && groups.every((group) => !Number.isNaN(group)) ? groups : null
}

/** Reads one group, or the IPv4 address that may stand in the place of the last two. */
function hexGroups(isLast: boolean) {
  return (group: string, at: number, all: string[]): number[] => {
    if (/^[0-9a-f]{1,4}$/i.test(group)) return [Number.parseInt(group, 16)]
    const v4 = isLast && at === all.length - 1 ? v4Value(group) : null
    return v4 === null ? [Number.NaN] : [Number(v4 >> 16n), Number(v4 & 0xffffn)]
  }
}

function textOf({ bits, value }: Address): string {
  const size = bits === 32 ? 8 : 16
  const parts = Array.from({ length: bits / size }, (_, at) =>
    Number(BigInt.asUintN(size, value >> BigInt(bits - size * (at + 1)))),
  )
  if (bits === 32) return parts.join('.')
  const text = parts.map((group) => group.toString(16)).join(':')
  // The longest run of zeros, and of several the first, is left out: RFC 5952 §4.2.
  const runs = text.match(/\b0(?::0)+\b/g) ?? []
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  if (longest === '') return text
  const [before = '', after = ''] = splitAt(`:${text}:`, `:${longest}:`)
  return `${before.slice(1)}::${after.slice(0, -1)}`
}

function splitAt(text: string, part: string): [string, string] {
  const at = text.indexOf(part)
  return [text.slice(0, at), text.slice(at + part.length)]
}
