import { crc32 } from 'node:zlib'
import { seenBy } from '../harness'
import { der, name, oid, time } from './der'
import { utf8 } from './harness'

/* Certificates and deliveries as PayPal's are, and the hosts that publish the certificates. */

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
const PATH = '/v1/notifications/certs/'
const CONTROL = 'https://control.plain.dev'

/** A key that signs, and its certificate in PEM. */
export type Signer = { key: CryptoKey; pem: string }
export type SignerOptions = { name?: string; from?: Date; until?: Date; bits?: number }

/** Makes a key and a certificate for it, which is signed with the key itself: who signed a certificate is not asked. */
export async function newSigner(options: SignerOptions = {}): Promise<Signer> {
  const { bits = 2048, from = new Date('2020-01-01'), until = new Date('2049-06-01') } = options
  const generated = { ...RSA, modulusLength: bits, publicExponent: Uint8Array.of(1, 0, 1) }
  const keys = (await crypto.subtle.generateKey(generated, true, ['sign', 'verify'])) as CryptoKeyPair
  return { key: keys.privateKey, pem: await certificateFor(keys, options.name ?? NAME, [from, until]) }
}

const NAME = 'messageverificationcerts.paypal.com'

/** A certificate of any key, in PEM. */
export async function certificateFor(keys: CryptoKeyPair, common: string, [from, until]: [Date, Date]) {
  const algorithm = der(0x30, oid('1.2.840.113549.1.1.11'), der(0x05))
  const spki = new Uint8Array((await crypto.subtle.exportKey('spki', keys.publicKey)) as ArrayBuffer)
  const version = der(0xa0, der(0x02, Uint8Array.of(2)))
  const serial = der(0x02, Uint8Array.of(1))
  const validity = der(0x30, time(from), time(until))
  const signed = der(0x30, version, serial, algorithm, name('Test CA'), validity, name(common), spki)
  const how = keys.privateKey.algorithm.name === RSA.name ? RSA : { name: 'ECDSA', hash: 'SHA-256' }
  const signature = new Uint8Array(await crypto.subtle.sign(how, keys.privateKey, signed))
  return pemOf(der(0x30, signed, algorithm, der(0x03, Uint8Array.of(0), signature)))
}

/** As PayPal writes it: lines of 64 characters that end in CR LF. */
export function pemOf(bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\r\n')
}

let shared: Promise<Signer> | undefined
/** The signer of all tests that need just one. */
export function sharedSigner(): Promise<Signer> {
  shared ??= newSigner()
  return shared
}

export const addressOf = (id: string, host = 'api.sandbox.paypal.com') => `https://${host}${PATH}${id}`

/** What is signed. Node's CRC-32: not the implementation under test. */
export type Unsigned = {
  body: string | Uint8Array
  webhook: string
  signer: Signer
  address: string
  at?: number
  id?: string
}

/** The headers of a delivery. */
export async function paypalHeaders({ body, webhook, signer, address, at = Date.now(), id = 't-1' }: Unsigned) {
  const sentAt = new Date(at).toISOString().replace('.000', '')
  const text = `${id}|${sentAt}|${webhook}|${crc32(body)}`
  const signature = new Uint8Array(await crypto.subtle.sign(RSA, signer.key, utf8(text)))
  return {
    'paypal-transmission-id': id,
    'paypal-transmission-time': sentAt,
    'paypal-transmission-sig': signature.toBase64(),
    'paypal-cert-url': address,
    'paypal-auth-algo': 'SHA256withRSA',
    'paypal-auth-version': 'v2',
  }
}

/** What PayPal answers at the address of a certificate from now on. @returns the address */
export async function answerAt(id: string, answer: object, host?: string): Promise<string> {
  const address = addressOf(id, host)
  const { hostname, pathname } = new URL(address)
  await fetch(`${CONTROL}/${hostname}`, { method: 'PATCH', body: JSON.stringify({ [pathname]: answer }) })
  return address
}

/** Lets PayPal publish the certificate of a signer. @returns its address */
export function publish({ pem }: Signer, id: string, host?: string): Promise<string> {
  return answerAt(id, { body: pem, headers: { 'Content-Type': 'text/plain' } }, host)
}

/** How often addresses were asked for that begin like this. */
export async function timesAsked(address: string): Promise<number> {
  return (await seenBy(new URL(address).hostname)).filter(({ url }) => url.startsWith(address)).length
}
