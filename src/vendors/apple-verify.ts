import { equalBytes, sha256Hex, utf8 } from '../lib/crypto'
import { HOUR } from '../lib/time'
import { environmentOf, type SignedText, signedIn, subjectOfNotification } from './apple-jws'
import { type Certificate, isIssuedBy, readCertificate, verifyingKeyOf } from './lib/certificates'
import { integer, type Json, number, text } from './lib/json'
import { firstSecret, refused, utf8Text } from './lib/verify'
import { TOLERANCE_MS } from './limits'
import type { Vendor } from './vendor'

/** SHA-256 of "Apple Root CA - G3 Root", which signs for the App Store: https://www.apple.com/certificateauthority/ */
const APPLE_ROOT = '63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179'

/** What marks Apple's certificates, as the hexadecimal of the object identifier. */
const MARKS = {
  /** 1.2.840.113635.100.6.2.1: the intermediate of Worldwide Developer Relations. */
  intermediate: '2a864886f76364060201',
  /** 1.2.840.113635.100.6.11.1: what signs receipts and notifications of the App Store. */
  leaf: '2a864886f76364060b01',
} as const

/** How long a chain that was verified is not verified again (ms), and how many such chains an isolate remembers. */
const REMEMBERED_FOR = HOUR
const MAX_REMEMBERED_CHAINS = 8

/** The key of a verified chain, and when all of its certificates are valid (ms). */
type Chain = { key: CryptoKey; from: number; until: number }

/**
 * Makes a check of notifications: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2. What costs nothing
 * comes first, because strangers can send anything. Nothing asks whether a certificate was revoked.
 *
 * @param root the SHA-256 of the root certificate, in hexadecimal. Only tests have another one than Apple's
 */
export function verifierOf(root: string = APPLE_ROOT): Vendor['verify'] {
  const chainOf = remembered(async (certificates) => {
    const [, , last] = certificates
    return last && (await sha256Hex(last)) === root ? verifiedChain(certificates) : null
  })
  return async ({ bytes, now }, secrets) => {
    const body = utf8Text(bytes)
    const signed = body === null ? 'malformed' : signedIn(body)
    if (typeof signed === 'string') return refused(`signature_${signed}`)
    const signedAt = number(signed.payload.signedDate)
    if (signedAt === null) return refused('signature_malformed')
    const secret = await firstSecret(secrets, async (secret) => isOf(signed.payload, secret))
    const chain = secret < 0 ? null : await chainOf(signed.x5c, now)
    if (!chain || !(await isSignedWith(chain.key, signed))) return refused('signature_mismatch')
    const isValid = (time: number) => chain.from <= time && time <= chain.until
    // Apple repeats a delivery for days, so its time may be long ago. A repetition is a duplicate.
    const isInTime = isValid(signedAt) && isValid(now) && signedAt <= now + TOLERANCE_MS
    return isInTime ? { ok: true, secret } : refused('signature_timestamp', now - signedAt)
  }
}

/** Whether a notification is of the app that a secret names: a live one by its number too, which only live ones have. */
function isOf(payload: Json, secret: string): boolean {
  const { bundleId, appAppleId } = subjectOfNotification(payload)
  const environment = environmentOf(payload)
  const bundle = text(bundleId)
  const app = integer(appAppleId)
  if (bundle === null || environment === null || (environment === 'Production' && app === null)) return false
  return equalBytes(utf8(environment === 'Production' ? `${bundle}:${app}` : bundle), utf8(secret))
}

async function isSignedWith(key: CryptoKey, { content, signature }: SignedText): Promise<boolean> {
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, utf8(content))
}

/** The key of a chain of leaf, intermediate and root; null if the three are no such chain. */
async function verifiedChain(certificates: readonly Uint8Array<ArrayBuffer>[]): Promise<Chain | null> {
  try {
    const [leaf, intermediate, root] = certificates.map(readCertificate) as [Certificate, Certificate, Certificate]
    const isMarked = leaf.extensions.has(MARKS.leaf) && intermediate.extensions.has(MARKS.intermediate)
    // The root may sign because it is trusted.
    if (!isMarked || leaf.isAuthority || !intermediate.isAuthority || leaf.curve !== 'P-256') return null
    if (!(await isIssuedBy(intermediate, root)) || !(await isIssuedBy(leaf, intermediate))) return null
    const all = [leaf, intermediate, root]
    const from = Math.max(...all.map((one) => one.from))
    const until = Math.min(...all.map((one) => one.until))
    return { key: await verifyingKeyOf(leaf), from, until }
  } catch {
    return null // Not certificates, or not with keys of this kind.
  }
}

/** Remembers the chains that are verified. Those that are not are forgotten, so strangers push none out. */
function remembered(verified: (certificates: readonly Uint8Array<ArrayBuffer>[]) => Promise<Chain | null>) {
  const known = new Map<string, Chain & { forgotten: number }>()
  return async (x5c: SignedText['x5c'], now: number): Promise<Chain | null> => {
    const name = x5c.map(({ text }) => text).join()
    const found = known.get(name)
    if (found && now < found.forgotten) return found
    known.delete(name)
    const chain = await verified(x5c.map(({ bytes }) => bytes))
    if (!chain) return null
    const [oldest] = known.keys()
    if (known.size >= MAX_REMEMBERED_CHAINS && oldest !== undefined) known.delete(oldest)
    known.set(name, { ...chain, forgotten: now + REMEMBERED_FOR })
    return chain
  }
}
