import { VENDOR_NAMES, VENDORS } from '../../vendors'
import { PRESETS } from '../../vendors/presets'
import type { Vendor } from '../../vendors/vendor'
import { MAX_HEADER_NAMES } from './limits'

/** Who signs in which headers: the vendors, and the presets of the vendor `hmac`. Some share a header. */
const SENDERS: readonly (readonly [name: string, headers: readonly string[]])[] = [
  ...VENDOR_NAMES.map((name) => [name, (VENDORS[name] as Vendor).signatureHeaders ?? []] as const),
  ...Object.entries(PRESETS).map(([name, { header }]) => [name, [header]] as const),
]

/** Headers that a vendor uses, and headers that describe the body or its sender. */
const MEANT = new Set([
  'authorization',
  'content-type',
  'user-agent',
  ...Object.values<Vendor>(VENDORS).flatMap(({ signatureHeaders = [], keptHeaders }) => [
    ...signatureHeaders,
    ...keptHeaders,
  ]),
  ...Object.values(PRESETS).flatMap(({ header, time_header }) => [header, ...(time_header ? [time_header] : [])]),
])

/** The names of a delivery's headers that mean something to its own vendor or to another. */
export function meantHeaders(own: Vendor | undefined, headers: Headers): string[] {
  const ours = [...(own?.signatureHeaders ?? []), ...(own?.keptHeaders ?? [])]
  return [...headers.keys()].filter((name) => MEANT.has(name) || ours.includes(name)).slice(0, MAX_HEADER_NAMES)
}

/**
 * Tells which other sender uses a signature header of this delivery.
 *
 * @returns null if no other sender uses it. If several do, `sender` is the one whose name is in the user agent, and null if that is not exactly one
 */
export function otherSender(own: Vendor | undefined, headers: Headers): { sender: string | null } | null {
  const found = SENDERS.filter(([, names]) =>
    names.some((name) => headers.has(name) && !own?.signatureHeaders?.includes(name)),
  ).map(([name]) => name)
  const [only = null, ...others] = found
  if (only === null) return null
  const named = found.filter((name) => isNamed(name, headers))
  return { sender: others.length === 0 ? only : named.length === 1 ? (named[0] ?? null) : null }
}

/** Whether the user agent of a delivery has the name of a sender. */
export function isNamed(sender: string, headers: Headers): boolean {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '')
  return letters(headers.get('user-agent') ?? '').includes(letters(sender))
}

/** The media type of a delivery, without parameters; null if it has none, or a strange one. */
export function mediaTypeOf(headers: Headers): string | null {
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/.test(type.trim()) ? type.trim() : null
}
