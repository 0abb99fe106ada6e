import { concat, fromBase64, fromHex, hmac as macOf, utf8 } from '../lib/crypto'
import { SECOND } from '../lib/time'
import { isObject, type Json, numericId } from './lib/json'
import { eventOf } from './lib/read'
import { isoMillis, isoTime } from './lib/time'
import { checkPlain, matchedAt, matchSecret, refused } from './lib/verify'
import { MAX_HEADER_VALUE, MAX_SIGNATURES } from './limits'
import { type Part, partsOf, splitsAt } from './template'
import { type SignatureCause, Undecodable, type Vendor, type VendorDelivery } from './vendor'
import { headerOf, PLACES, type Verification } from './verification'

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Any sender that signs with HMAC: its connection's verification says how. Without one, nothing verifies.
 *
 * The places of a verification are stored with each payload, under names that no header can have: a later change of the
 * verification then changes nothing about earlier deliveries.
 */
export const hmac: Vendor = {
  keptHeaders: [],
  checkSecret: checkPlain('the secret that the sender signs with'),
  verify: async () => refused('signature_mismatch'),
  decode: decodeBy,
}

/** The vendor `hmac` with the verification of a connection. */
export function hmacOf(verification: Verification): Vendor {
  const places = PLACES.flatMap((name) => (verification[name] ? [[name, verification[name]] as const] : []))
  return {
    ...hmac,
    signatureHeaders: [verification.header],
    keptHeaders: places.flatMap(([, place]) => headerOf(place) ?? []),
    keptBeside: Object.fromEntries(places.map(([name, place]) => [`:${name}`, place])),
    async verify(delivery, secrets) {
      const read = readSigned(verification, delivery)
      if ('cause' in read) return refused(read.cause)
      const { signatures, signed, signedAt } = read
      const hash = HASHES[verification.algorithm].name
      const secret = await matchSecret(secrets, signatures, (key) => macOf(hash, utf8(key), signed))
      return matchedAt(secret, signedAt ?? delivery.now, delivery.now, verification.tolerance_s * SECOND)
    },
  }
}

const HASHES = {
  sha256: { name: 'SHA-256', bytes: 32 },
  sha512: { name: 'SHA-512', bytes: 64 },
  sha1: { name: 'SHA-1', bytes: 20 },
} as const

/** What a delivery signs, its signatures, and their time (ms; null if none is signed). */
type Signed = { signatures: Bytes[]; signed: Bytes; signedAt: number | null }

/** Reads a delivery by a verification. @returns else why it does not have this form, as a sentence */
export function readSigned(
  verification: Verification,
  delivery: VendorDelivery,
): Signed | { cause: SignatureCause; why: string } {
  const { header, time_header, unit } = verification
  const value = delivery.headers.get(header)
  if (!value) return { cause: 'signature_missing', why: `There is no header ${header}.` }
  if (value.length > MAX_HEADER_VALUE) return malformed(`The header ${header} is too long.`)
  const found = verification.pairs ? inPairs(verification.pairs, value) : inPrefixed(verification.prefix ?? '', value)
  if (typeof found === 'string') return malformed(found)
  const { length } = found.signatures
  if (length === 0) return malformed(`The header ${header} has no signature.`)
  if (length > MAX_SIGNATURES) return malformed(`The header ${header} has more than ${MAX_SIGNATURES} signatures.`)
  const { bytes } = HASHES[verification.algorithm]
  const signatures = found.signatures.map((it) => decoded(verification.encoding, it, bytes))
  if (!signatures.every((it) => it !== null)) {
    return malformed(`A signature is not ${bytes} bytes in ${verification.encoding}.`)
  }
  const time = found.time ?? (time_header ? delivery.headers.get(time_header) : null)
  const parts = partsOf(verification.signed) ?? []
  const isTimed = parts.some(({ of }) => of === 'time')
  if (isTimed && !(time && TIMES[unit].test(time))) {
    return malformed(`The time is not ${unit === 's' ? '10 digits of seconds' : '13 digits of milliseconds'}.`)
  }
  const signed = signedBy(parts, delivery, time ?? '')
  if (typeof signed === 'string') return malformed(signed)
  return { signatures, signed, signedAt: isTimed ? Number(time) * (unit === 's' ? SECOND : 1) : null }
}

function malformed(why: string): { cause: SignatureCause; why: string } {
  return { cause: 'signature_malformed', why }
}

/** Of a fixed length, because `{time}{body}` is safe for that reason. */
const TIMES = { s: /^\d{10}$/, ms: /^\d{13}$/ }

type Found = { signatures: string[]; time: string | null }

/** The pairs of a header such as `t=1,v1=a,v1=b`. Others than those named are ignored, as senders may add some. */
function inPairs(names: NonNullable<Verification['pairs']>, value: string): Found | string {
  const pairs = value.split(/[,;]/).map((part) => {
    const [name = '', ...of] = part.split('=')
    return { name: name.trim(), of: of.join('=').trim() }
  })
  const times = names.time === undefined ? [] : pairs.filter(({ name }) => name === names.time)
  if (names.time !== undefined && times.length !== 1) return `The header must have the pair ${names.time} exactly once.`
  const signatures = pairs.filter(({ name }) => name === names.signature).map(({ of }) => of)
  return { signatures, time: times[0]?.of ?? null }
}

function inPrefixed(prefix: string, value: string): Found | string {
  if (!value.startsWith(prefix)) return `The header does not start with ${prefix}`
  return { signatures: [value.slice(prefix.length)], time: null }
}

/** A signature as bytes; null unless it has exactly this length, alphabet and padding. */
function decoded(encoding: Verification['encoding'], text: string, bytes: number): Bytes | null {
  if (encoding === 'hex') return text.length === bytes * 2 ? fromHex(text) : null
  const isUrl = encoding === 'base64url'
  // Spaces, which the decoder would skip, are in neither alphabet.
  if (!(isUrl ? /^[A-Za-z0-9_-]+$/ : /^[A-Za-z0-9+/]+={0,2}$/).test(text)) return null
  const plain = isUrl
    ? text
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .padEnd(Math.ceil(text.length / 4) * 4, '=')
    : text
  const found = plain.length === Math.ceil(bytes / 3) * 4 ? fromBase64(plain) : null
  return found?.byteLength === bytes ? found : null
}

/** What is signed. @returns else why it cannot be said, as a sentence */
function signedBy(parts: readonly Part[], { headers, bytes, url }: VendorDelivery, time: string): Bytes | string {
  const pieces: (string | Bytes)[] = []
  for (const [index, part] of parts.entries()) {
    if (part.of !== 'header') {
      pieces.push(
        { text: () => (part as { text: string }).text, body: () => bytes, time: () => time, url: () => url }[part.of](),
      )
      continue
    }
    const value = headers.get(part.name)
    if (!value) return `There is no header ${part.name}.`
    if (!/^[\x20-\x7e]+$/.test(value) || value.length > MAX_HEADER_VALUE)
      return `The header ${part.name} is not plain text.`
    const splits = splitsAt(parts, index)
    if (splits !== null && value.includes(splits)) {
      return `The header ${part.name} contains “${splits}”, so what is signed could be read in two ways.`
    }
    pieces.push(value)
  }
  return concat(pieces)
}

/** The event of a payload, by the places that are stored with it. */
function decodeBy(body: string, headers: Readonly<Record<string, string>>) {
  const content = parsed(body)
  const find = (name: (typeof PLACES)[number]): unknown => {
    const place = headers[`:${name}`]
    if (place === undefined) return undefined
    const header = headerOf(place)
    return header === null ? at(content, place) : headers[header]
  }
  const type = find('type')
  if (headers[':type'] !== undefined && (typeof type !== 'string' || type === '')) {
    throw new Undecodable(`the payload has no ${headers[':type']}`)
  }
  const vendor_event_id = numericId(find('id'))
  return [
    eventOf({
      vendor_event_id,
      event_type: typeof type === 'string' ? type : 'webhook',
      occurred_at: timeOf(find('time')),
      livemode: LIVE.get(find('livemode')) ?? null,
      object: { type: null, id: null, status: null },
      content: vendor_event_id === null ? null : content,
    }),
  ]
}

const LIVE = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
])

function parsed(body: string): Json | null {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : null
  } catch {
    return null // A form, for example: only its headers say something.
  }
}

/** The value at a path of names, by own properties only. */
function at(content: Json | null, path: string): unknown {
  let here: unknown = content
  for (const name of path.split('.')) {
    if (!isObject(here) || !Object.hasOwn(here, name)) return undefined
    here = here[name]
  }
  return here
}

/** A time as RFC 3339, or as seconds or milliseconds since the epoch, which a number of twelve digits or more is. */
function timeOf(value: unknown): string | null {
  const number = typeof value === 'string' && /^\d{10,13}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number') return isoTime(value)
  return isoMillis(number >= 1e11 ? number : number * SECOND)
}
