import { equalBytes, hex } from '../../lib/crypto'
import { DER, type DerValue, derBits, derContent, derInside, derTime, derValues } from './der'

type Bytes = Uint8Array<ArrayBuffer>
type Curve = 'P-256' | 'P-384'

/** Object identifiers, as the hexadecimal of their bytes. */
const OIDS = {
  '2a864886f70d010101': 'RSA key',
  '2a8648ce3d0201': 'EC key',
  '2a8648ce3d030107': 'P-256',
  '2b81040022': 'P-384',
  '2a8648ce3d040302': 'SHA-256',
  '2a8648ce3d040303': 'SHA-384',
} as const
const BASIC_CONSTRAINTS = '551d13'
const COMMON_NAME = '550403'
/** Bytes of each half of a signature. */
const HALF = { 'P-256': 32, 'P-384': 48 } as const

/** A certificate with a key on a curve. Times are in milliseconds since the epoch. */
export type Certificate = {
  issuer: Bytes
  subject: Bytes
  from: number
  until: number
  /** Its key, as SPKI. */
  key: Bytes
  curve: Curve
  /** Whether it may sign other certificates. */
  isAuthority: boolean
  /** The contents of its extensions, by the hexadecimal of their object identifiers. */
  extensions: ReadonlyMap<string, Bytes>
  /** What is signed, and how. */
  signed: Bytes
  signature: Bytes
  hash: 'SHA-256' | 'SHA-384'
}

/** Reads a certificate: RFC 5280, section 4.1. @throws {RangeError} if it is not one, or has a key or a signature of another kind */
export function readCertificate(bytes: Bytes): Certificate {
  const { more, body, algorithm, signature, own, issuer, from, until, subject, spki, kind, curve, optional } =
    partsOf(bytes)
  const hash = known(derInside(algorithm)[0])
  const on = known(curve)
  const isOfCurve = known(kind) === 'EC key' && (on === 'P-256' || on === 'P-384')
  // The algorithm is stated twice, and only one of the two is signed.
  const isSigned = (hash === 'SHA-256' || hash === 'SHA-384') && equal(own, algorithm)
  if (more.length > 0 || !isOfCurve || !isSigned) throw new RangeError('no certificate of a known kind')
  const extensions = extensionsOf(optional.find(({ tag }) => tag === DER.EXTENSIONS))
  return {
    issuer: derContent(issuer, DER.SEQUENCE),
    subject: derContent(subject, DER.SEQUENCE),
    from: derTime(from),
    until: derTime(until),
    key: (spki as DerValue).whole,
    curve: on,
    isAuthority: saysAuthority(extensions.get(BASIC_CONSTRAINTS)),
    extensions,
    signed: (body as DerValue).whole,
    signature: derBits(signature),
    hash,
  }
}

/** A certificate with an RSA key. Times are in milliseconds since the epoch. */
export type RsaCertificate = Pick<Certificate, 'from' | 'until' | 'key'> & {
  /** The common names of its subject. */
  names: readonly string[]
}

/** Reads a certificate whose key is an RSA key. Who has signed it is not asked. @throws {RangeError} if it is not one, or has a key of another kind */
export function readRsaCertificate(bytes: Bytes): RsaCertificate {
  const { more, from, until, subject, spki, kind } = partsOf(bytes)
  if (more.length > 0 || known(kind) !== 'RSA key') throw new RangeError('no certificate with an RSA key')
  const parts = derInside(subject).flatMap((part) => derInside(part, DER.SET).map((pair) => derInside(pair)))
  const common = parts.filter(([name]) => hex(derContent(name, DER.OID)) === COMMON_NAME)
  const names = common.map(([, value]) => new TextDecoder().decode(value?.content))
  return { from: derTime(from), until: derTime(until), key: (spki as DerValue).whole, names }
}

/** The fields of a certificate. `more`: what comes after it. @throws {RangeError} */
function partsOf(bytes: Bytes) {
  const [whole, ...more] = derValues(bytes)
  const [body, algorithm, signature] = derInside(whole)
  const fields = derInside(body)
  if (fields[0]?.tag === DER.VERSION) fields.shift()
  const [, own, issuer, validity, subject, spki, ...optional] = fields
  const [from, until] = derInside(validity)
  const [key] = derInside(spki)
  const [kind, curve] = derInside(key)
  return { more, body, algorithm, signature, own, issuer, from, until, subject, spki, kind, curve, optional }
}

/** Whether a certificate names another as its issuer, and is signed with its key. Whether that one may sign is not asked. @throws {RangeError} */
export async function isIssuedBy(certificate: Certificate, issuer: Certificate): Promise<boolean> {
  if (!equalBytes(certificate.issuer, issuer.subject)) return false
  const key = await verifyingKeyOf(issuer)
  const signature = joined(certificate.signature, HALF[issuer.curve])
  return crypto.subtle.verify({ name: 'ECDSA', hash: certificate.hash }, key, signature, certificate.signed)
}

/** The key of a certificate, to verify with. */
export function verifyingKeyOf({ key, curve }: Certificate): Promise<CryptoKey> {
  return crypto.subtle.importKey('spki', key, { name: 'ECDSA', namedCurve: curve }, false, ['verify'])
}

/** A signature as Web Crypto takes it: two numbers of a fixed length, where certificates have two of DER's. */
function joined(signature: Bytes, half: number): Bytes {
  const [pair, ...more] = derValues(signature)
  const [r, s, ...others] = derInside(pair)
  if (more.length > 0 || others.length > 0) throw new RangeError('no signature')
  const out = new Uint8Array(2 * half)
  for (const [index, number] of [r, s].entries()) {
    const digits = derContent(number, DER.INTEGER)
    const first = digits.findIndex((byte) => byte !== 0)
    const kept = first < 0 ? digits.subarray(0, 0) : digits.subarray(first)
    if (kept.length > half) throw new RangeError('a number that is too long')
    out.set(kept, (index + 1) * half - kept.length)
  }
  return out
}

function extensionsOf(field: DerValue | undefined): Map<string, Bytes> {
  const [list] = field ? derValues(field.content) : []
  const pairs = list ? derInside(list).map((one) => derInside(one)) : []
  // Between its name and its content may be whether it is critical.
  return new Map(
    pairs.map((pair) => [hex(derContent(pair[0], DER.OID)), derContent(pair.at(-1), DER.OCTET_STRING)] as const),
  )
}

function saysAuthority(constraints: Bytes | undefined): boolean {
  if (!constraints) return false
  const [first] = derInside(derValues(constraints)[0])
  return first?.tag === DER.BOOLEAN && first.content[0] === 0xff
}

function known(oid: DerValue | undefined) {
  return OIDS[hex(derContent(oid, DER.OID)) as keyof typeof OIDS] as (typeof OIDS)[keyof typeof OIDS] | undefined
}

function equal(a: DerValue | undefined, b: DerValue | undefined): boolean {
  return a !== undefined && b !== undefined && equalBytes(a.whole, b.whole)
}
