import { concat, utf8 } from '../../src/lib/crypto'
import { ORIGIN } from '../harness'

/*
 * An authenticator in software: it makes passkeys with ES256 and signs with them, as the ones in phones and keys do. What
 * it answers has the form of a browser's `PublicKeyCredential.toJSON()`.
 */

type Bytes = Uint8Array<ArrayBuffer>
type Options = { challenge: string; rp?: { id: string }; rpId?: string; user?: { id: string } }

/** What an answer has in place of what it should have. */
export type Wrong = {
  origin?: string
  rpId?: string
  type?: string
  challenge?: string
  userHandle?: string
  verified?: boolean
  present?: boolean
  counter?: number
  /** The attestation's format, and its statement. */
  format?: [string, Bytes]
}

export type Authenticator = Awaited<ReturnType<typeof newAuthenticator>>

/** A new authenticator with one passkey. */
export async function newAuthenticator() {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const { publicKey, privateKey } = keys as CryptoKeyPair
  const { x = '', y = '' } = (await crypto.subtle.exportKey('jwk', publicKey)) as JsonWebKey
  const id = crypto.getRandomValues(new Uint8Array(16)) as Bytes
  let user = ''
  let counter = 0

  /** Registers the passkey. */
  async function create(options: Options, wrong: Wrong = {}) {
    user = options.user?.id ?? ''
    const clientDataJSON = clientData('webauthn.create', options, wrong)
    const key = cbor.map([
      [cbor.int(1), cbor.int(2)],
      [cbor.int(3), cbor.int(-7)],
      [cbor.int(-1), cbor.int(1)],
      [cbor.int(-2), cbor.bytes(fromUrl(x))],
      [cbor.int(-3), cbor.bytes(fromUrl(y))],
    ])
    const attested = concat([new Uint8Array(16), Uint8Array.of(0, id.length), id, key])
    const authData = await authenticatorData(
      wrong.rpId ?? options.rp?.id ?? '',
      flagsOf(wrong) | 0x40,
      counter,
      attested,
    )
    const [format, statement] = wrong.format ?? ['none', cbor.map([])]
    const attestationObject = cbor.map([
      [cbor.text('fmt'), cbor.text(format)],
      [cbor.text('attStmt'), statement],
      [cbor.text('authData'), cbor.bytes(authData)],
    ])
    return answer({ clientDataJSON, attestationObject: toUrl(attestationObject), transports: ['internal'] })
  }

  /** Signs in with the passkey. */
  async function get(options: Options, wrong: Wrong = {}) {
    counter = wrong.counter ?? counter + 1
    const clientDataJSON = clientData('webauthn.get', options, wrong)
    const authData = await authenticatorData(wrong.rpId ?? options.rpId ?? '', flagsOf(wrong), counter)
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', fromUrl(clientDataJSON)))
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    const raw = new Uint8Array(await crypto.subtle.sign(algorithm, privateKey, concat([authData, hash])))
    return answer({
      clientDataJSON,
      authenticatorData: toUrl(authData),
      signature: toUrl(der(raw)),
      userHandle: wrong.userHandle ?? user,
    })
  }

  const answer = <T>(response: T) => ({
    id: toUrl(id),
    rawId: toUrl(id),
    type: 'public-key' as const,
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response,
  })
  return { id: toUrl(id), create, get }
}

function clientData(type: string, { challenge }: Options, wrong: Wrong): string {
  const data = { type, challenge, origin: ORIGIN, crossOrigin: false, ...wrong }
  const { rpId: _, verified: _v, present: _p, counter: _c, userHandle: _u, format: _f, ...sent } = data
  return toUrl(utf8(JSON.stringify(sent)))
}

const flagsOf = ({ present = true, verified = true }: Wrong) => (present ? 0x01 : 0) | (verified ? 0x04 : 0) | 0x18

async function authenticatorData(
  rpId: string,
  flags: number,
  counter: number,
  attested: Uint8Array = new Uint8Array(),
) {
  const host = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(rpId)))
  const count = new Uint8Array(4)
  new DataView(count.buffer).setUint32(0, counter)
  return concat([host, Uint8Array.of(flags), count, attested])
}

/** CBOR (RFC 8949), as much of it as is needed here. */
export const cbor = {
  int: (n: number) => (n < 0 ? head(1, -1 - n) : head(0, n)),
  bytes: (bytes: Uint8Array) => concat([head(2, bytes.length), bytes]),
  text: (text: string) => concat([head(3, utf8(text).length), utf8(text)]),
  list: (items: Uint8Array[]) => concat([head(4, items.length), ...items]),
  map: (pairs: [Uint8Array, Uint8Array][]) => concat([head(5, pairs.length), ...pairs.flat()]),
}
function head(major: number, n: number): Bytes {
  if (n < 24) return Uint8Array.of((major << 5) | n)
  return n < 256 ? Uint8Array.of((major << 5) | 24, n) : Uint8Array.of((major << 5) | 25, n >> 8, n & 255)
}

/** An ECDSA signature as ASN.1 DER, from the two numbers that WebCrypto gives. */
function der(raw: Uint8Array): Bytes {
  const number = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0)
    const short = bytes.subarray(start)
    const body = (short[0] as number) > 127 ? concat([Uint8Array.of(0), short]) : short
    return concat([Uint8Array.of(2, body.length), body])
  }
  const both = concat([number(raw.subarray(0, 32)), number(raw.subarray(32))])
  return concat([Uint8Array.of(0x30, both.length), both])
}

export const toUrl = (bytes: Uint8Array) => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
export const fromUrl = (text: string) => Uint8Array.fromBase64(text, { alphabet: 'base64url' }) as Bytes
