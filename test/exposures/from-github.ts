import { call, type RequestOptions, setHost } from '../harness'

/* Reports as GitHub sends them, and its keys. */

export const HOST = 'api.github.com'
export const PATH = '/meta/public_keys/secret_scanning'
/** The sample of GitHub's documentation. The number s of its signature has 31 bytes. */
export const SAMPLE = {
  id: 'bcb53661c06b4728e59d897fb6165d5c9cda0fd9cdf9d09ead458168deb7518c',
  key: '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAGMWO8XgCamYKMJS6jc/qgvSlAd\nAjPuDPRcXU22YxgBrz+zoN19MzuRyW87qEt9/AmtoNP5GrobzUvQSyJFVw==\n-----END PUBLIC KEY-----\n',
  signature: 'MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg==',
  body: '[{"source":"commit","token":"some_token","type":"some_type","url":"https://example.com/base-repo-url/"}]',
}
export const URL_OF_FILE = 'https://github.com/octocat/hello/blob/1234567/.env'
let own: CryptoKeyPair

/** Makes a key pair to sign with, and lets GitHub publish the public key as `own`. */
export async function publishNewKey() {
  own = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair
  await publish()
}

/** Lets GitHub publish the keys, and these with them. */
export async function publish(also: { key_identifier: string; key: string; is_current: boolean }[] = []) {
  const spki = new Uint8Array((await crypto.subtle.exportKey('spki', own.publicKey)) as ArrayBuffer).toBase64()
  const key = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----\n`
  const public_keys = [
    { key_identifier: SAMPLE.id, key: SAMPLE.key, is_current: true },
    { key_identifier: 'own', key, is_current: true },
    { key_identifier: 'former', key, is_current: false },
    ...also,
  ]
  const body = JSON.stringify({ public_keys })
  await setHost(HOST, { [PATH]: { body, headers: { 'Content-Type': 'application/json; charset=utf-8', ETag: '"1"' } } })
}

/** The body of a report about these tokens. */
export const reported = (tokens: string[], type = 'platform') =>
  JSON.stringify(tokens.map((token) => ({ token, type, url: URL_OF_FILE, source: 'commit' })))

/** Sends a report with the id of a key and a signature; null: without the header. */
export function send(body: string, id: string | null, signature: string | null, options: RequestOptions = {}) {
  const headers = {
    'Content-Type': 'application/json',
    ...(id !== null && { 'Github-Public-Key-Identifier': id }),
    ...(signature !== null && { 'Github-Public-Key-Signature': signature }),
  }
  return call<never>('/exposures/github', { method: 'POST', body, headers, ...options })
}

/** Sends a report with a good signature. */
export async function sendSigned(body: string, options: RequestOptions = {}) {
  return send(body, 'own', await sign(body), options)
}

/** The signature of a body with the key that was made, in base64. */
export async function sign(body: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const raw = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    own.privateKey,
    typeof body === 'string' ? new TextEncoder().encode(body) : body,
  )
  return derOf(new Uint8Array(raw)).toBase64()
}

/** As DER writes it: without leading zeros, and with one before what would look negative. */
export function derOf(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  const number = (bytes: Uint8Array) => {
    const digits = [
      ...bytes.subarray(
        Math.min(
          31,
          bytes.findIndex((byte) => byte !== 0),
        ),
      ),
    ]
    return (digits[0] ?? 0) > 127 ? [0, ...digits] : digits
  }
  const parts = [raw.subarray(0, 32), raw.subarray(32)].map(number).flatMap((digits) => [2, digits.length, ...digits])
  return new Uint8Array([0x30, parts.length, ...parts])
}
