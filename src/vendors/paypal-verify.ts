import { crc32, fromBase64, utf8 } from '../lib/crypto'
import { DAY } from '../lib/time'
import { type RsaCertificate, readRsaCertificate } from './lib/certificates'
import { millisOf } from './lib/time'
import { firstSecret, refused } from './lib/verify'
import { TOLERANCE_MS } from './limits'
import type { Vendor } from './vendor'

/** The headers of a signature, all of which PayPal sends. */
export const PAYPAL_HEADERS = [
  'paypal-transmission-sig',
  'paypal-transmission-id',
  'paypal-transmission-time',
  'paypal-cert-url',
  'paypal-auth-algo',
] as const

/**
 * Where PayPal publishes the certificates of its keys. Those that were seen are on `api.`; `api-m.` is what PayPal calls the same API now.
 * Nothing that an address can hide another one in is allowed: no port, user, `.` or `%`.
 */
export const PAYPAL_CERTIFICATES =
  /^https:\/\/api(?:-m)?(?:\.sandbox)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[A-Za-z0-9-]{1,64}$/

/** PayPal sends a delivery that was not accepted again for three days. Whether it signs it again is not documented. */
export const PAYPAL_TOLERANCE = 3 * DAY

const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
/** Bytes of signatures of RSA keys with 2,048 to 4,096 bits. */
const SHORTEST = 256
const LONGEST = 512
/** What the certificates are for, which PayPal's own libraries check too. Others in PayPal's name are for other things. */
const NAME = /^messageverificationcerts[a-z0-9.-]*\.paypal\.com$/

/**
 * Checks `PAYPAL-TRANSMISSION-SIG`: RSA (PKCS #1 v1.5) with SHA-256 of `id|time|webhook id|CRC-32 of the body`, with the key of the certificate
 * that the delivery names. That the certificate is PayPal's is known from where it was fetched, over TLS: its chain is not checked.
 *
 * **The CRC-32 does not bind the body.** Whoever has one delivery with its headers makes another body with the same sum in no time, and it is
 * accepted for as long as the signature is. So nothing may be concluded from such an event without asking PayPal.
 *
 * https://developer.paypal.com/api/rest/webhooks/rest/
 */
export const verifyPaypal: Vendor['verify'] = async ({ headers, bytes, now, keys }, secrets) => {
  const [sig, id, time, address, algorithm] = PAYPAL_HEADERS.map((name) => headers.get(name))
  if (!sig || !id || !time || !address || !algorithm) return refused('signature_missing')
  const signature = /^[A-Za-z0-9+/]+={0,2}$/.test(sig) ? fromBase64(sig) : null
  const size = signature?.byteLength ?? 0
  const signedAt = millisOf(time)
  // No part of what is signed may have a separator, which would move the others.
  const isFormed = /^[\w-]{1,50}$/.test(id) && signedAt !== null && algorithm === 'SHA256withRSA'
  if (!signature || size < SHORTEST || size > LONGEST || !isFormed || !PAYPAL_CERTIFICATES.test(address))
    return refused('signature_malformed')
  if (secrets.every((secret) => secret === '')) return refused('signature_mismatch')
  const text = (await keys?.(address, (text) => certificateIn(text) !== null)) ?? null
  const certificate = text === null ? null : certificateIn(text)
  const key = certificate && (await keyOf(certificate))
  if (!key) return { ok: false, cause: 'key_unavailable' }
  const sum = crc32(bytes)
  const secret = await firstSecret(secrets, (webhook) =>
    crypto.subtle.verify(RSA, key, signature, utf8(`${id}|${time}|${webhook}|${sum}`)),
  )
  if (secret < 0) return refused('signature_mismatch')
  const skew = now - signedAt
  if (skew > PAYPAL_TOLERANCE || skew < -TOLERANCE_MS) return refused('signature_timestamp', skew)
  const isValid = (at: number) => certificate.from <= at && at <= certificate.until
  return isValid(signedAt) && isValid(now) ? { ok: true, secret } : refused('signature_timestamp')
}

/** The key of a certificate; null if it is none that signs like this. */
function keyOf({ key }: RsaCertificate): Promise<CryptoKey | null> {
  return crypto.subtle.importKey('spki', key, RSA, false, ['verify']).catch(() => null)
}

/** The first certificate of a text in PEM, which is that of the key; null if it is not one of PayPal's for this. */
function certificateIn(pem: string): RsaCertificate | null {
  const [, base64 = ''] = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/.exec(pem) ?? []
  const bytes = fromBase64(base64)
  try {
    const certificate = bytes && readRsaCertificate(bytes)
    return certificate?.names.some((name) => NAME.test(name)) ? certificate : null
  } catch {
    return null // Not a certificate, or one with a key of another kind.
  }
}
