import { fromBase64 } from '../lib/crypto'
import { at, isObject, type Json, text } from './lib/json'

/** Certificates of a signature: leaf, intermediate, root. */
const CHAIN = 3
/** Characters of the header of a signed text, in base64url. Apple's has 4,400. */
const MAX_HEADER = 16_384

/** A signed text (JWS in its compact form, RFC 7515) with its parts. */
export type SignedText = {
  /** What is signed. */
  content: string
  payload: Json
  signature: Uint8Array<ArrayBuffer>
  /** The certificates, as they are written and as bytes. */
  x5c: readonly { text: string; bytes: Uint8Array<ArrayBuffer> }[]
}

/** The signed text of a delivery; what is wrong with it, if it has none or has another form than Apple's. */
export function signedIn(body: string): SignedText | 'missing' | 'malformed' {
  const signedPayload = text(at(objectIn(body), 'signedPayload'))
  if (signedPayload === null) return 'missing'
  const [first = '', second = '', third = '', ...more] = signedPayload.split('.', 4)
  const header = first.length <= MAX_HEADER ? objectIn(decoded(first)) : null
  const payload = objectIn(decoded(second))
  const signature = bytesOf(third)
  const x5c = certificatesIn(header?.x5c)
  const isWhole = more.length === 0 && header?.alg === 'ES256' && signature?.byteLength === 64
  // What an extension of the header means would have to be known: RFC 7515, section 4.1.11.
  if (!isWhole || !payload || !x5c || header.crit !== undefined) return 'malformed'
  return { content: `${first}.${second}`, payload, signature, x5c }
}

/** The payload of a signed text, which is not verified here; null if it has none. */
export function payloadOf(signed: unknown): Json | null {
  return objectIn(decoded(text(signed)?.split('.')[1] ?? ''))
}

/** What a notification is about, which names the app. Each has one of the four. */
export function subjectOfNotification({ data, summary, appData, externalPurchaseToken }: Json): Json {
  return [data, summary, appData, externalPurchaseToken].find(isObject) ?? {}
}

/** The environment of a notification; null if it does not say. A token of an external purchase says it in its id. */
export function environmentOf(payload: Json): string | null {
  const subject = subjectOfNotification(payload)
  const external = text(subject.externalPurchaseId)
  if (external !== null) return external.startsWith('SANDBOX') ? 'Sandbox' : 'Production'
  return text(subject.environment)
}

function certificatesIn(list: unknown): SignedText['x5c'] | null {
  if (!Array.isArray(list) || list.length !== CHAIN) return null
  const read = list.flatMap((one: unknown) => {
    // Without spaces between: a certificate is then written in one way only, by which it is remembered.
    const bytes = typeof one === 'string' && /^\S+$/.test(one) ? fromBase64(one) : null
    return bytes ? [{ text: one as string, bytes }] : []
  })
  return read.length === CHAIN ? read : null
}

function bytesOf(part: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]*$/.test(part)) return null
  try {
    return Uint8Array.fromBase64(part, { alphabet: 'base64url' }) as Uint8Array<ArrayBuffer>
  } catch {
    return null // Its length is that of no bytes.
  }
}

function decoded(part: string): string {
  const bytes = bytesOf(part)
  return bytes ? new TextDecoder().decode(bytes) : ''
}

function objectIn(json: string): Json | null {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
