import { vi } from 'vitest'
import { base64url, sha256Hex, utf8 } from '../../src/lib/crypto'
import { apple } from '../../src/vendors/apple'
import { verifierOf } from '../../src/vendors/apple-verify'
import { der, extension, name, oid, shortest, time } from './der'

/* Certificates and signatures as Apple's are. A real delivery is in apple-real.test.ts. */

type Bytes = Uint8Array<ArrayBuffer>
type Curve = 'P-256' | 'P-384'
type Keys = { publicKey: CryptoKey; privateKey: CryptoKey }
/** A chain: leaf, intermediate, root. `key`: of the leaf. */
export type Chain = { certificates: Bytes[]; key: CryptoKey; root: string }
export type ChainOptions = {
  leafMark?: string | null
  intermediateMark?: string | null
  leafIsAuthority?: boolean
  intermediateIsAuthority?: boolean
  /** Who the leaf and the intermediate say that they are from, in place of the next one. */
  leafIssuer?: string
  intermediateIssuer?: string
  leafFrom?: Date
  leafUntil?: Date
  leafCurve?: Curve
  authorityCurve?: Curve
  hash?: 'SHA-256' | 'SHA-384'
  /** The key that signs the leaf, in place of the intermediate's. */
  leafSignedBy?: CryptoKey
  intermediateSignedBy?: CryptoKey
}

const NAMES = {
  leaf: 'Test App Store',
  intermediate: 'Test Relations',
  root: 'Test Root',
}
const FROM = new Date('2020-01-01T00:00:00Z')
const UNTIL = new Date('2049-06-01T00:00:00Z')

export async function newKeys(namedCurve: Curve): Promise<Keys> {
  return (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify'])) as Keys
}

/** Makes a chain as Apple's: keys of authorities on P-384, and that of the leaf on P-256. */
export async function newChain(options: ChainOptions = {}): Promise<Chain> {
  const { leafMark = '1.2.840.113635.100.6.11.1', intermediateMark = '1.2.840.113635.100.6.2.1' } = options
  const { authorityCurve = 'P-384', hash = 'SHA-384' } = options
  const [leaf, intermediate, root] = await Promise.all([
    newKeys(options.leafCurve ?? 'P-256'),
    newKeys(authorityCurve),
    newKeys(authorityCurve),
  ])
  const marked = (oid: string | null) => (oid === null ? [] : [extension(oid, der(0x05))])
  const made = await Promise.all([
    certificate({
      subject: NAMES.leaf,
      issuer: options.leafIssuer ?? NAMES.intermediate,
      key: leaf.publicKey,
      by: options.leafSignedBy ?? intermediate.privateKey,
      from: options.leafFrom ?? FROM,
      until: options.leafUntil ?? UNTIL,
      hash,
      extensions: [constraints(options.leafIsAuthority ?? false), ...marked(leafMark)],
    }),
    certificate({
      subject: NAMES.intermediate,
      issuer: options.intermediateIssuer ?? NAMES.root,
      key: intermediate.publicKey,
      by: options.intermediateSignedBy ?? root.privateKey,
      from: FROM,
      until: UNTIL,
      hash,
      extensions: [constraints(options.intermediateIsAuthority ?? true), ...marked(intermediateMark)],
    }),
    certificate({
      subject: NAMES.root,
      issuer: NAMES.root,
      key: root.publicKey,
      by: root.privateKey,
      from: FROM,
      until: UNTIL,
      hash,
      extensions: [extension('2.5.29.19', der(0x30, YES), YES)],
    }),
  ])
  return { certificates: made, key: leaf.privateKey, root: await sha256Hex(made[2] ?? new Uint8Array()) }
}

type Fields = {
  subject: string
  issuer: string
  key: CryptoKey
  by: CryptoKey
  from: Date
  until: Date
  hash: 'SHA-256' | 'SHA-384'
  extensions: Bytes[]
}

/** A certificate as RFC 5280 describes it. */
async function certificate({ subject, issuer, key, by, from, until, hash, extensions }: Fields): Promise<Bytes> {
  const algorithm = der(0x30, oid(`1.2.840.10045.4.3.${hash === 'SHA-256' ? 2 : 3}`))
  const spki = new Uint8Array((await crypto.subtle.exportKey('spki', key)) as ArrayBuffer)
  const version = der(0xa0, der(0x02, Uint8Array.of(2)))
  const serial = der(0x02, Uint8Array.of(1))
  const validity = der(0x30, time(from), time(until))
  const optional = der(0xa3, der(0x30, ...extensions))
  const signed = der(0x30, version, serial, algorithm, name(issuer), validity, name(subject), spki, optional)
  const signature = new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash }, by, signed))
  const half = signature.length / 2
  const numbers = [signature.subarray(0, half), signature.subarray(half)].map((digits) => der(0x02, shortest(digits)))
  return der(0x30, signed, algorithm, der(0x03, Uint8Array.of(0), der(0x30, ...numbers)))
}

const YES = der(0x01, Uint8Array.of(0xff))
const constraints = (isAuthority: boolean) =>
  extension('2.5.29.19', isAuthority ? der(0x30, YES, der(0x02, Uint8Array.of(0))) : der(0x30), YES)

export const x5cOf = ({ certificates }: Chain) => certificates.map((one) => one.toBase64())

/** Signs a payload as a JWS. @param header in place of what Apple's has */
export async function signedText(payload: unknown, chain: Chain, header: object = {}): Promise<string> {
  const parts = [{ alg: 'ES256', x5c: x5cOf(chain), ...header }, payload]
  const content = parts.map((part) => base64url(typeof part === 'string' ? part : JSON.stringify(part))).join('.')
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, chain.key, utf8(content))
  return `${content}.${base64url(new Uint8Array(signature))}`
}

type Payload = Record<string, unknown> & { data?: Record<string, unknown> }

/** The body of a notification. What is signed inside it is given as objects. */
export async function notificationBody(payload: unknown, chain: Chain, header: object = {}): Promise<string> {
  const { data, ...rest } = payload as Payload
  const signed = { ...data }
  for (const field of ['signedTransactionInfo', 'signedRenewalInfo']) {
    if (typeof signed[field] === 'object' && signed[field] !== null)
      signed[field] = await signedText(signed[field], chain)
  }
  return JSON.stringify({ signedPayload: await signedText(data ? { ...rest, data: signed } : rest, chain, header) })
}

let shared: Promise<Chain> | undefined
/** The chain of all tests that need just one. */
export function sharedChain(): Promise<Chain> {
  shared ??= newChain()
  return shared
}

/** Until the test ends, the service takes the root of this chain for Apple's. */
export function trustRootOf({ root }: Chain): void {
  vi.spyOn(apple, 'verify').mockImplementation(verifierOf(root))
}
