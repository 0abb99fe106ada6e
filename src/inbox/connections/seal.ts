import { concat, utf8 } from '../../lib/crypto'

/** Encryption keys by number; the highest encrypts, every one decrypts. */
export type KeyRing = ReadonlyMap<number, Uint8Array<ArrayBuffer>>

/** A secret at rest: which key encrypted it, and base64 of nonce and AES-256-GCM ciphertext. */
export type Sealed = { key: number; box: string }

const NONCE_BYTES = 12

/** The number of the key that encrypts now. */
export function sealingKey(keys: KeyRing): number {
  return Math.max(...keys.keys())
}

/**
 * Encrypts a secret. `context` is bound to the ciphertext as associated data: a box moved to another row does not open.
 */
export async function seal(keys: KeyRing, secret: string, context: string): Promise<Sealed> {
  const number = sealingKey(keys)
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const ciphertext = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: nonce, additionalData: utf8(context) },
    await importKey(keys, number, 'encrypt'),
    utf8(secret),
  )
  return { key: number, box: concat([nonce, new Uint8Array(ciphertext)]).toBase64() }
}

/** @throws where the key is gone, the box was tampered with, or it belongs to another context */
export async function unseal(keys: KeyRing, sealed: Sealed, context: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(sealed.box)
  const plain = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: bytes.slice(0, NONCE_BYTES), additionalData: utf8(context) },
    await importKey(keys, sealed.key, 'decrypt'),
    bytes.slice(NONCE_BYTES),
  )
  return new TextDecoder().decode(plain)
}

function importKey(keys: KeyRing, number: number, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  const bytes = keys.get(number)
  if (!bytes) throw new Error(`ENCRYPTION_KEY_${number} is not configured`)
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, [use])
}
