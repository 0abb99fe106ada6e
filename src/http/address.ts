import type { Context } from 'hono'

/** The IPv4 address inside an IPv6 one: `::ffff:192.0.2.1`. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * The address that a request comes from, as Cloudflare states it; null if it does not. No other header counts: a client can send any.
 */
export function clientAddress(c: Context): string | null {
  return c.req.header('CF-Connecting-IP')?.trim() || null
}

/**
 * The client's address as the key of a limit. An IPv6 address counts by its first 64 bits, because that is the smallest
 * network a client is given: it can choose the other 64 freely.
 */
export function addressOf(c: Context): string {
  const address = clientAddress(c) ?? 'local'
  const mapped = MAPPED.exec(address)?.[1]
  if (mapped) return mapped
  return address.includes(':') ? networkOf(address) : address
}

/** The first four groups of an IPv6 address, without leading zeros: `2001:db8:0:1::/64`. */
function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':')
    while (groups.length + last.length < 8) groups.push('0')
    groups.push(...last)
  }
  const four = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${four.join(':')}::/64`
}
